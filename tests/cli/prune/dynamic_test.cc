#include <filesystem>

#include "core/data/array_file.h"
#include "core/onnx/io.h"
#include "core/report/json.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/program.h"
#include "tests/support/rewrite.h"
#include "tests/support/temp_dir.h"

using namespace mlopt;

namespace {

/// A network of four layers, and samples whose class is the sign of their first number.
struct Files {
  test::TempDir folder;
  std::string model = folder / "m.onnx", out = folder / "o.onnx", data = folder / "d.npz";

  Files() {
    write_model(
        test::fixture(R"(g (float[N,8] x, float[8,8] A, float[8,8] B, float[8,8] C, float[8,2] D) => (float[N,2] y) {
        a = MatMul (x, A)
        b = MatMul (a, B)
        c = MatMul (b, C)
        y = MatMul (c, D)
      })",
                      17),
        model);
    const Tensor x = test::uniform({64, 8}, -1, 1);
    std::vector<int64_t> labels;
    for (size_t i = 0; i < 64; ++i) labels.push_back(to_floats(x)[8 * i] > 0);
    write_npz(data, {{"x", x}, {"label", Tensor::ints(labels)}});
  }
  test::Outcome prune(std::vector<std::string> options) const {
    options.insert(options.begin(), {"prune", model, "-o", out, "--no-bench", "--method", "dynamic"});
    return test::run_mlopt(options);
  }
};

}  // namespace

TEST_CASE("--method dynamic trains an exit, and says how many samples leave there and what they save") {
  const Files files;
  const std::vector<std::string> how = {"--data", files.data,     "--steps", "60",     "--lr",
                                        "0.05",   "--batch-size", "16",      "--json", "-"};
  const test::Outcome done = files.prune(how);
  INFO(done.err << done.out);
  REQUIRE(done.status == 0);
  CHECK(done.err.find("chosen on the data that it was trained on") != std::string::npos);
  const Json report = Json::parse(done.out);
  const Json& changes = *report.find("changes");
  const double leave = changes.find("leave")->number();
  CHECK(leave > 0.1);
  // 208 of the source, 128 to the exit, 16 of it, 80 behind it.
  CHECK(changes.find("macs_before")->integer() == 208);
  CHECK(changes.find("macs_average")->number() == Approx(144 + (1 - leave) * 80));
  const Model made = read_model(files.out);
  CHECK(made.graph->outputs()[0]->name == "y");
  bool branches = false;
  for (const Node* node : made.graph->nodes()) branches = branches || node->is("If");
  CHECK(branches);
  // What the source has learned is as it was.
  CHECK(to_floats(*made.graph->find("A")->constant) == to_floats(*read_model(files.model).graph->find("A")->constant));

  std::vector<std::string> sure = how;
  sure.insert(sure.end(), {"--threshold", "1", "--exit-at", "30%"});
  const Json stays = Json::parse(files.prune(sure).out);
  CHECK(stays.find("changes")->find("leave")->number() < leave);
  CHECK(stays.find("changes")->find("exit")->string() == "a");
}

TEST_CASE("--method dynamic says what does not go with it") {
  const Files files;
  const auto status = [&](std::vector<std::string> options) {
    options.insert(options.end(), {"--data", files.data});
    return files.prune(options).status;
  };
  CHECK(status({"--sparsity", "0.5"}) == 2);
  CHECK(status({"--granularity", "channel"}) == 2);
  CHECK(status({"--metric", "mse"}) == 2);
  CHECK(status({"--threshold", "2"}) == 2);
  CHECK(status({"--analyse"}) == 2);
  CHECK(files.prune({}).status == 2);
  CHECK(test::run_mlopt({"prune", files.model, "-o", files.out, "--sparsity", "0.5", "--exit-at", "50%"}).status == 2);
  CHECK(!std::filesystem::exists(files.out));
}
