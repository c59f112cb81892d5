#include <algorithm>
#include <fstream>

#include "core/base/file.h"
#include "core/data/array_file.h"
#include "core/onnx/io.h"
#include "core/report/json.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/op.h"
#include "tests/support/program.h"

using namespace mlopt;
using test::run_mlopt;

namespace {

/// Scores whose largest is that of the largest of the first three numbers.
constexpr const char* kTeacher = R"(
<ir_version: 10, opset_import: ["" : 17]>
teacher (float[N,4] x) => (float[N,3] scores)
<float[4,3] w = {5,0,0, 0,5,0, 0,0,5, 0,0,0}>
{
  scores = MatMul (x, w)
})";

/// A student in two layers, and 96 samples with or without labels.
struct Setup {
  test::TempDir folder;
  std::string student = write_text_model(folder, "s.onnx", test::kTwoLayers);
  std::string teacher = write_text_model(folder, "t.onnx", kTeacher);
  std::string data = folder / "d.npz", bare = folder / "bare.npz", out = folder / "out.onnx";

  Setup() {
    const Tensor x = test::uniform({96, 4}, -1, 1);
    std::vector<int64_t> labels;
    const auto v = x.span<float>();
    for (size_t i = 0; i < 96; ++i) labels.push_back(std::max_element(&v[4 * i], &v[4 * i] + 3) - &v[4 * i]);
    write_npz(data, {{"x", x}, {"label", Tensor::ints(labels)}});
    write_npz(bare, {{"x", x}});
  }

  test::Outcome distill(std::vector<std::string> more) const {
    std::vector<std::string> args = {"distill", student, "--teacher", teacher, "-o", out, "--no-bench"};
    args.insert(args.end(), more.begin(), more.end());
    return run_mlopt(args);
  }
};

}  // namespace

TEST_CASE("a student learns from a teacher what no label says") {
  const Setup s;
  const test::Outcome done = s.distill({"--data", s.bare, "--epochs", "60", "--batch-size", "16", "--lr", "0.05",
                                        "--reset-weights", "--val", s.data, "--metric", "top1", "--json", "-"});
  INFO(done.err << done.out);
  REQUIRE(done.status == 0);
  const Json report = Json::parse(done.out);
  CHECK(report.find("epochs")->items().back().find("score")->number() > 0.9);
  CHECK(report.find("spec")->string().find("distill:data=") == 0);
  const Model made = read_model(s.out), before = read_model(s.student);
  CHECK(made.graph->nodes().size() == before.graph->nodes().size());
  CHECK(made.graph->initializers().size() == before.graph->initializers().size());
}

TEST_CASE("the same distillation gives the same model, and the parts of its loss are said") {
  const Setup s;
  const std::vector<std::string> options = {"--data", s.data, "--steps", "7", "--batch-size", "16"};
  const test::Outcome done = s.distill(options);
  INFO(done.err << done.out);
  REQUIRE(done.status == 0);
  CHECK(done.out.find("kl 0.9 + hard 0.1") != std::string::npos);
  const std::string first = read_file(s.out);
  REQUIRE(s.distill(options).status == 0);
  CHECK(read_file(s.out) == first);
}

TEST_CASE("the report tells when only a shape says that outputs are of classes, and --loss says what they are") {
  const Setup s;
  const std::vector<std::string> options = {"--data", s.bare, "--steps", "2", "--batch-size", "16"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = options;
    all.insert(all.end(), more.begin(), more.end());
    const test::Outcome done = s.distill(all);
    REQUIRE(done.status == 0);
    return done.out;
  };
  const std::string guessed = with({}), numbers = with({"--loss", "mse"});
  CHECK(guessed.find("kl 1,") != std::string::npos);
  CHECK(guessed.find("as their shape suggests") != std::string::npos);
  CHECK(numbers.find("mse 1,") != std::string::npos);
  CHECK(numbers.find("as their shape suggests") == std::string::npos);
}

TEST_CASE("what a teacher gave is kept on disk, and makes the same student") {
  const Setup s;
  const std::vector<std::string> options = {"--data", s.data, "--epochs", "2", "--batch-size", "16"};
  REQUIRE(s.distill(options).status == 0);
  const auto weights = [&] {
    std::vector<std::vector<double>> all;
    const Model model = read_model(s.out);
    for (const Value* v : model.graph->initializers()) all.push_back(to_doubles(*v->constant));
    return all;
  };
  const auto live = weights();
  std::vector<std::string> cached = options;
  cached.insert(cached.end(), {"--cache-teacher", s.folder / "cache"});
  for (int again = 0; again < 2; ++again) {
    const test::Outcome done = s.distill(cached);
    INFO(done.err);
    REQUIRE(done.status == 0);
    const auto found = weights();
    REQUIRE(found.size() == live.size());
    for (size_t i = 0; i < live.size(); ++i)
      for (size_t k = 0; k < live[i].size(); ++k) CHECK(found[i][k] == Approx(live[i][k]).epsilon(1e-4));
  }
}

TEST_CASE("a student is made of the teacher's own layers") {
  const Setup s;
  const std::string deep = write_text_model(s.folder, "deep.onnx", R"(
<ir_version: 10, opset_import: ["" : 17]>
deep (float[N,4] x) => (float[N,3] y)
<float[4,4] w0 = {1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1}, float[4,4] w1 = {1,2,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1},
 float[4,4] w2 = {1,0,3,0, 0,1,0,0, 0,0,1,0, 0,0,0,1}, float[4,3] w3 = {1,0,0, 0,1,0, 0,0,1, 0,0,0}>
{
  a = MatMul (x, w0)
  b = MatMul (a, w1)
  c = Relu (b)
  d = MatMul (c, w2)
  e = Relu (d)
  y = MatMul (e, w3)
})");
  const test::Outcome done = run_mlopt({"distill", deep, "--student", "layers=1", "-o", s.out, "--data", s.bare,
                                        "--epochs", "30", "--batch-size", "16", "--no-bench", "--json", "-"});
  INFO(done.err << done.out);
  REQUIRE(done.status == 0);
  CHECK(read_model(s.out).graph->nodes().size() == 4);
  const Json report = Json::parse(done.out);
  const auto& epochs = report.find("epochs")->items();
  CHECK(epochs.back().find("loss")->number() < 0.5 * epochs.front().find("loss")->number());
  CHECK(run_mlopt({"distill", deep, "--student", "layers=7", "-o", s.out, "--data", s.bare}).status == 2);
}

TEST_CASE("a student learns from samples made of what the teacher's normalizations remember") {
  const Setup s;
  const std::string teacher = write_text_model(s.folder, "bn.onnx", R"(
<ir_version: 10, opset_import: ["" : 17]>
bn (float[N,4] x) => (float[N,3] y)
<float[4] scale = {1,1,1,1}, float[4] bias = {0,0,0,0}, float[4] mean = {0,0,0,0}, float[4] var = {0.3,0.3,0.3,0.3},
 float[4,3] w = {5,0,0, 0,5,0, 0,0,5, 0,0,0}>
{
  n = BatchNormalization (x, scale, bias, mean, var)
  y = MatMul (n, w)
})");
  const test::Outcome done = run_mlopt({"distill",
                                        s.student,
                                        "--teacher",
                                        teacher,
                                        "-o",
                                        s.out,
                                        "--data-free",
                                        "64",
                                        "--data-free-steps",
                                        "50",
                                        "--reset-weights",
                                        "--epochs",
                                        "100",
                                        "--batch-size",
                                        "16",
                                        "--lr",
                                        "0.05",
                                        "--val",
                                        s.data,
                                        "--metric",
                                        "top1",
                                        "--no-bench",
                                        "--json",
                                        "-"});
  INFO(done.err << done.out);
  REQUIRE(done.status == 0);
  const Json report = Json::parse(done.out);
  CHECK(report.find("epochs")->items().back().find("score")->number() > 0.7);
  CHECK(report.find("spec")->string().find("distill:batch-size=16;") == 0);
  CHECK(report.find("spec")->string().find(";data-free=64;") != std::string::npos);
}

TEST_CASE("distillation that makes no sense is refused") {
  const Setup s;
  struct Row {
    std::vector<std::string> options;
    int status;
    const char* says;
  };
  const std::string wide =
      write_text_model(s.folder, "wide.onnx",
                       "<ir_version: 10, opset_import: [\"\" : 17]> wide (float[N,4] x) => (float[N,4] y) "
                       "{ y = Relu (x) }");
  const Row rows[] = {
      {{"--teacher", wide, "--data", s.data}, 3, "the teacher's outputs do not match the student's"},
      {{"--teacher", "nowhere.onnx", "--data", s.data}, 3, "nowhere.onnx"},
      {{"--data", s.data, "--alpha", "2"}, 2, "--alpha"},
      {{"--data", s.bare, "--alpha", "0.5"}, 2, "the data have no labels to share the loss with"},
      {{"--data", s.bare, "--label-smoothing", "0.1"}, 2, "no labels are in the loss"},
      {{"--data", s.data, "--label-smoothing", "0.1", "--alpha", "1"}, 2, "no labels are in the loss"},
      {{"--data", s.data, "--temperature", "0"}, 2, "--temperature"},
      {{"--data", s.data, "--alpha", "0"}, 2, "follows nothing"},
      {{"--data", s.data, "--match", "t=scores,s=product,loss=hidde"}, 2, "did you mean 'hidden'?"},
      {{"--data", s.data, "--match", "t=score,s=product,loss=mse"}, 3, "did you mean 'scores'?"},
      {{}, 2, "needs data"},
      {{"--data", s.data, "--cache-teacher", "c", "--augment", "flip"}, 2, "--cache-teacher"},
      {{"--data", s.data, "--cache-teacher", "c", "--augment", "mixup=0.2"}, 2, "--cache-teacher"},
      {{"--data", s.data, "--data-free", "8"}, 2, "one of --data and --data-free"},
      {{"--data-free", "8", "--data-free-steps", "0"}, 2, "--data-free-steps"},
      {{"--data-free", "8"}, 3, "no BatchNormalization of the teacher remembers"},
  };
  for (const Row& row : rows) {
    const test::Outcome done = s.distill(row.options);
    INFO(row.says << "\n" << done.err << done.out);
    CHECK(done.status == row.status);
    CHECK(done.err.find(row.says) != std::string::npos);
    CHECK(!std::ifstream(s.out).good());
  }
  CHECK(run_mlopt({"distill", s.student, "-o", s.out, "--data", s.data}).status == 2);
}
