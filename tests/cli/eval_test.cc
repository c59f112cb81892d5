#include "core/data/array_file.h"
#include "core/report/json.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/program.h"

using namespace mlopt;
using test::run_mlopt;

namespace {

/// The model's outputs for these four samples have their arg-max at 1, 2, 2 and 0.
struct Labelled {
  test::TempDir folder;
  std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers);
  std::string data = folder / "d.npz";

  explicit Labelled(const std::vector<int64_t>& labels, const std::string& input = "x") {
    const Tensor x = Tensor::of<float>({4, 4}, {0, 2, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0});
    write_npz(data, {{input, x}, {"label", Tensor::ints(labels)}});
  }
};

}  // namespace

TEST_CASE("eval scores a model, in words and as JSON") {
  // The outputs are {8.5, 9, 2}, {7.5, 7, 11}, {1.5, -1, 5} and {4.5, 4, 2}.
  const Labelled all_right({1, 2, 2, 0}), half_right({1, 1, 2, 2});
  for (const char* device : {"reference", "cpu"}) {
    const test::Outcome right =
        run_mlopt({"eval", all_right.model, "--data", all_right.data, "--metric", "top1", "--device", device});
    if (right.status == 4) continue;  // a build without this backend
    CHECK(right.status == 0);
    CHECK(right.out.find("100.00 % (4 of 4)") != std::string::npos);
    const test::Outcome half = run_mlopt({"eval", half_right.model, "--data", half_right.data, "--metric", "top1",
                                          "--json", "-", "--batch", "3", "--device", device});
    INFO(half.err << half.out);
    REQUIRE(half.status == 0);
    const Json report = Json::parse(half.out);
    CHECK(report.find("score")->find("metric")->string() == "top1");
    CHECK(report.find("score")->find("value")->number() == 0.5);
    CHECK(report.find("score")->find("samples")->integer() == 4);
    CHECK(report.find("seconds")->number() > 0);
    CHECK(report.find("device")->string() == device);
  }
}

TEST_CASE("eval refuses what it cannot score, with the status that says whose fault it is") {
  const Labelled labelled({0, 2, 2, 0}), other({0, 2, 2, 0}, "pixels"), beyond({0, 2, 3, 0});
  const auto status = [&](std::vector<std::string> args, const std::string& words) {
    args.insert(args.begin(), {"eval", labelled.model});
    const test::Outcome outcome = run_mlopt(args);
    INFO(outcome.err);
    CHECK(outcome.err.find(words) != std::string::npos);
    return outcome.status;
  };
  CHECK(status({"--data", labelled.data}, "no metric was given") == 2);
  CHECK(status({"--metric", "top1"}, "no data were given") == 2);
  CHECK(status({"--data", labelled.data, "--metric", "top2"}, "did you mean 'top1'") == 2);
  CHECK(status({"--data", labelled.data + ",limt=3", "--metric", "top1"}, "did you mean 'limit'") == 2);
  CHECK(status({"--data", labelled.data, "--metric", "top1", "--output", "z"}, "no output 'z'") == 2);
  CHECK(status({"--data", labelled.data, "--metric", "top1", "--batch", "0"}, "at least one sample") == 2);
  CHECK(status({"--data", labelled.folder / "none.npz", "--metric", "top1"}, "none.npz") == 3);
  CHECK(status({"--data", other.data, "--metric", "top1"},
               "the model takes 'x' float32[N,4]; the data hold 'pixels'") == 3);
  CHECK(status({"--data", labelled.data, "--metric", "top1", "--shape", "z=3"}, "no free dimension 'z'") == 2);
  CHECK(status({"--data", labelled.data, "--metric", "top1", "--range", "z=1:2"}, "no input 'z'") == 2);
  CHECK(status({"--data", labelled.data, "--metric", "top1", "--shape", "N=2"}, "shapes of their own: --shape") == 2);
  CHECK(status({"--data", labelled.data, "--metric", "top1", "--range", "x=1:2"}, "values of their own: --range") == 2);
  for (const char* metric : {"top1", "top5", "f1"})
    CHECK(status({"--data", beyond.data, "--metric", metric}, "beyond the 3 classes") == 3);
  CHECK(status({"--data", "random", "--metric", "top1"}, "no labels") == 3);
}

TEST_CASE("a model without outputs is neither scored, trained nor pruned") {
  Labelled labelled({0, 2, 2, 0});
  const std::string model =
      write_text_model(labelled.folder, "none.onnx",
                       "<ir_version: 10, opset_import: [\"\" : 21]> g (float[N,4] x) => () { y = Relu (x) }");
  const std::string out = labelled.folder / "o.onnx";
  for (const std::vector<std::string>& args : {std::vector<std::string>{"eval", model, "--metric", "top1"},
                                               {"train", model, "-o", out, "--steps", "1", "--batch-size", "2"},
                                               {"train", model, "-o", out, "--batch-size", "2", "--loss", "mse"},
                                               {"prune", model, "-o", out, "--sparsity", "0.5", "--no-bench"}}) {
    std::vector<std::string> with_data = args;
    with_data.insert(with_data.end(), {"--data", labelled.data});
    const test::Outcome outcome = run_mlopt(with_data);
    INFO(args[0] << ": " << outcome.err);
    CHECK(outcome.status == 3);
    CHECK(outcome.err.find("the model has no outputs") != std::string::npos);
  }
}
