#include "cli/recipes/qat.h"

#include <filesystem>

#include "core/onnx/io.h"
#include "core/report/json.h"
#include "core/rewrite/pass.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/op.h"
#include "tests/support/program.h"
#include "tests/support/train_setup.h"

using namespace mlopt;
using test::run_mlopt;

namespace {

/// Of its three layers the second is large enough to gain. With `trained` they are trained in float first.
struct Setup : test::TrainSetup {
  explicit Setup(bool trained = false) {
    Model wide = read_model(model);
    Graph& graph = *wide.graph;
    Value* first = graph.add_constant("wide", test::uniform({4, 64}, -1, 1));
    Value* deep = graph.add_constant("deep", test::uniform({64, 64}, -0.2, 0.2));
    Value* last = graph.add_constant("last", test::uniform({64, 3}, -0.2, 0.2));
    Value* h = graph.add_op("Relu", {graph.add_op("MatMul", {graph.inputs()[0], first})->output(0)})->output(0);
    h = graph.add_op("Relu", {graph.add_op("MatMul", {h, deep})->output(0)})->output(0);
    graph.set_output(0, graph.add_op("MatMul", {h, last}, {}, nullptr, "scores")->output(0));
    graph.outputs()[0]->type = Type::tensor(DType::kF32, SymDims{Dim::symbol("N"), 3});
    remove_dead(wide);
    model = folder / "wide.onnx";
    write_model(wide, model);
    if (!trained) return;
    REQUIRE(train({"--epochs", "20", "--batch-size", "16", "--lr", "0.01"}).status == 0);
    std::filesystem::copy_file(out, model, std::filesystem::copy_options::overwrite_existing);
  }

  /// Of a command that writes the model: how near its outputs are to the source's on the data, in dB.
  double nearness(std::vector<std::string> args) const {
    args.insert(args.end(), {model, "-o", out, "--data", data, "--no-bench", "--json", "-"});
    const test::Outcome done = run_mlopt(args);
    INFO(done.err << done.out);
    REQUIRE(done.status == 0);
    return Json::parse(done.out).find("verify")->find("outputs")->items().at(0).find("sqnr_db")->number();
  }
};

double score_in(const test::Outcome& done) { return Json::parse(done.out).find("score")->find("value")->number(); }

}  // namespace

TEST_CASE("--qat trains what is written in integers") {
  Setup s;
  const test::Outcome done = s.train({"--qat", "w4a4", "--epochs", "40", "--batch-size", "16", "--lr", "0.01", "--val",
                                      s.data, "--metric", "top1", "--json", "-"});
  INFO(done.err << done.out);
  REQUIRE(done.status == 0);
  const Json report = Json::parse(done.out);
  // The score of an epoch is that of floats that round; the last is that of the file, of integers.
  CHECK(report.find("declined")->items().size() == 2);  // the small layers
  const double rounded = report.find("epochs")->items().back().find("score")->number();
  CHECK(rounded > 0.8);
  const test::Outcome scored = run_mlopt({"eval", s.out, "--data", s.data, "--metric", "top1", "--json", "-"});
  CHECK(score_in(scored) == Approx(rounded).margin(0.011));
  const auto codes = [&] {
    std::vector<std::vector<int64_t>> all;
    const Model written = read_model(s.out);
    for (const Value* v : written.graph->initializers())
      if (v->constant->dtype() == DType::kI4 && v->constant->rank() == 2) all.push_back(to_ints(*v->constant));
    return all;
  };
  const auto first = codes();
  CHECK(first.size() == 1);

  // It goes on from there without being told, and stays in its format.
  const size_t nodes = read_model(s.out).graph->node_count();
  s.model = s.folder / "codes.onnx";
  std::filesystem::copy_file(s.out, s.model);
  REQUIRE(s.train({"--steps", "20", "--batch-size", "16", "--lr", "0.02"}).status == 0);
  CHECK(codes().size() == 1);
  CHECK(codes() != first);
  CHECK(read_model(s.out).graph->node_count() == nodes);
}

TEST_CASE("the score while training is that of the file, in every format") {
  const Setup s;
  for (const char* format :
       {"w2", "w3g16", "w1", "ternary", "nf4g16", "fp4g16", "fp8e4m3", "codebook2", "codebook4v2", "pot3", "apot4",
        "w16a16", "w5a5", "w2a8", "w1a8", "w8a8-dynamic", "fp16", "bf16", "mixed:bits=5"}) {
    INFO(format);
    const test::Outcome done = s.train({"--qat", format, "--epochs", "6", "--batch-size", "16", "--lr", "0.005",
                                        "--val", s.data, "--metric", "top1", "--json", "-"});
    INFO(done.err << done.out);
    REQUIRE(done.status == 0);
    const Json report = Json::parse(done.out);
    const auto& epochs = report.find("epochs")->items();
    CHECK(epochs.back().find("loss")->number() < epochs.front().find("loss")->number());
    const test::Outcome scored = run_mlopt({"eval", s.out, "--data", s.data, "--metric", "top1", "--json", "-"});
    // One of 96 samples may lie on the edge of a step.
    CHECK(score_in(scored) == Approx(epochs.back().find("score")->number()).margin(0.011));
  }
}

TEST_CASE("what was trained in a format is nearer to the float model than what was only rounded to it") {
  const Setup s(true);
  for (const char* format : {"w2", "w1a8", "ternary", "nf4", "codebook2"}) {
    INFO(format);
    const double rounded = s.nearness({"quantize", "--to", format});
    const double trained = s.nearness(
        {"distill", "--teacher", s.model, "--qat", format, "--epochs", "15", "--batch-size", "16", "--lr", "0.002"});
    CHECK(trained > rounded + 2);
  }
}

TEST_CASE("the file of a training is what quantize writes for its weights") {
  const Setup s;
  REQUIRE(s.train({"--qat", "w3g16:method=rtn", "--steps", "5", "--batch-size", "16"}).status == 0);
  const Model trained = read_model(s.out);
  const std::string plain = s.folder / "plain.onnx";
  REQUIRE(run_mlopt({"quantize", s.model, "-o", plain, "--to", "w3g16", "--method", "rtn", "--no-bench"}).status == 0);
  const Model written = read_model(plain);
  const auto operators = [](const Model& model) {
    std::string all;
    for (const Node* node : model.graph->nodes()) all += node->op + " ";
    return all;
  };
  CHECK(operators(trained) == operators(written));
  CHECK(trained.graph->initializers().size() == written.graph->initializers().size());
}

TEST_CASE("a plan gives layers formats while they are trained") {
  const Setup s;
  const test::Outcome done =
      s.train({"--qat", "w8", "--layer-plan", R"({"deep": "w2"})", "--steps", "3", "--batch-size", "16"});
  INFO(done.err);
  REQUIRE(done.status == 0);
  CHECK(test::contains(done.out, "what the plan says"));
  CHECK(s.train({"--layer-plan", R"({"deep": "w2"})"}).status == 2);
  CHECK(s.train({"--qat", "w8a8", "--layer-plan", R"({"deep": "w2"})"}).status == 2);
}

TEST_CASE("--qat refuses what needs data at each update, and what it would train away") {
  const Setup s;
  for (const char* format : {"w4:method=gptq", "w4:method=awq", "w4:equalize", "w4:outliers=2%",
                             "w2:sparse_outliers=1%", "w2a8:skip=nowhere", "w2:only=nowhere", "nonsense"}) {
    INFO(format);
    const test::Outcome done = s.train({"--qat", format, "--steps", "1"});
    CHECK(done.status == 2);
    CHECK(!done.err.empty());
  }
}

TEST_CASE("--qat in a format without a 0 is refused where zeros are to stay") {
  const Setup s;
  for (const std::vector<std::string>& how : {std::vector<std::string>{"--qat", "w1"},
                                              {"--qat", "w1a8"},
                                              {"--qat", "codebook4v2"},
                                              {"--qat", "w8", "--layer-plan", R"({"deep": "w1"})"}}) {
    std::vector<std::string> options = how;
    options.insert(options.end(), {"--keep-zeros", "--steps", "1"});
    const test::Outcome done = s.train(options);
    INFO(done.err);
    CHECK(done.status == 2);
    CHECK(test::contains(done.err, "has no code for 0"));
  }
  CHECK(s.train({"--qat", "ternary", "--keep-zeros", "--steps", "1", "--batch-size", "16"}).status == 0);
  const test::Outcome pruned = run_mlopt({"prune", s.model, "-o", s.out, "--sparsity", "0.5", "--recover", "train",
                                          "--data", s.data, "--qat", "w1", "--steps", "1", "--no-bench"});
  CHECK(pruned.status == 2);
}

TEST_CASE("widths that fall end where the format says") {
  const Setup s;
  for (const char* format : {"w2", "codebook2", "mixed:bits=4"}) {
    INFO(format);
    const test::Outcome done = s.train({"--qat", format, "--qat-schedule", "gradual", "--epochs", "4", "--batch-size",
                                        "16", "--val", s.data, "--metric", "top1", "--json", "-"});
    INFO(done.err << done.out);
    REQUIRE(done.status == 0);
    const test::Outcome scored = run_mlopt({"eval", s.out, "--data", s.data, "--metric", "top1", "--json", "-"});
    CHECK(score_in(scored) ==
          Approx(Json::parse(done.out).find("epochs")->items().back().find("score")->number()).margin(0.011));
  }
  CHECK(s.train({"--qat", "w4a4", "--qat-schedule", "gradual", "--steps", "1"}).status == 2);
  CHECK(s.train({"--qat", "nf4", "--qat-schedule", "gradual", "--steps", "1"}).status == 2);
  CHECK(s.train({"--qat-schedule", "gradual", "--steps", "1"}).status == 2);
}

TEST_CASE("a training that is resumed rounds as it did") {
  const Setup s;
  const std::string folder = s.folder / "kept";
  const auto numbers = [&](const std::vector<std::string>& more) {
    std::vector<std::string> options = {"--qat",        "w2",   "--batch-size",       "16", "--epochs", "4",
                                        "--checkpoint", folder, "--checkpoint-every", "5"};
    options.insert(options.end(), more.begin(), more.end());
    const test::Outcome done = s.train(options);
    INFO(done.err);
    REQUIRE(done.status == 0);
    std::vector<std::vector<double>> all;
    const Model written = read_model(s.out);
    for (const Value* v : written.graph->initializers()) all.push_back(to_doubles(*v->constant));
    return all;
  };
  const auto whole = numbers({});
  for (const auto& file : std::filesystem::directory_iterator(folder))  // the newest but one becomes the newest
    if (file.path().filename().string() >= "step-00000024.npz") std::filesystem::remove(file.path());
  REQUIRE(!std::filesystem::is_empty(folder));
  CHECK(numbers({"--resume"}) == whole);
}
