#include "core/onnx/io.h"
#include "core/report/json.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/program.h"

using namespace mlopt;

namespace {

Json info(const std::string& model, std::vector<std::string> options = {}) {
  options.insert(options.begin(), {"info", model, "--json", "-"});
  const test::Outcome outcome = test::run_mlopt(options);
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  return Json::parse(outcome.out);
}

}  // namespace

TEST_CASE("info tells what is in a model") {
  const test::TempDir folder;
  const Json report = info(write_text_model(folder, "m.onnx", test::kTwoLayers));
  CHECK(report.find("nodes")->number() == 3);
  CHECK(report.find("parameters")->number() == 15);
  CHECK(report.find("opset")->number() == 21);
  CHECK(report.find("ir_version")->number() == 10);
  CHECK(report.find("size_bytes")->number() == std::filesystem::file_size(folder / "m.onnx"));
  CHECK(report.find("operators")->dump() == "{\n  \"Add\": 1,\n  \"MatMul\": 1,\n  \"Relu\": 1\n}");
  CHECK(report.find("size_by_type")->find("float32")->find("bytes")->number() == 60);
  const Json& input = report.find("inputs")->items().at(0);
  CHECK(input.find("name")->string() == "x");
  CHECK(input.find("type")->string() == "float32");
  CHECK(input.find("shape")->items().at(0).string() == "N");
  CHECK(input.find("shape")->items().at(1).number() == 4);
  CHECK(report.find("outputs")->items().at(0).find("name")->string() == "y");
  Model named = parse_text(test::kTwoLayers);
  for (const char* producer : {"", "maker"}) {
    named.producer_name = producer;
    named.producer_version.clear();
    write_model(named, folder / "n.onnx");
    CHECK(info(folder / "n.onnx").find("producer")->string() == producer);
  }
}

TEST_CASE("info counts the cost of a run at the sizes that are asked for") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers);
  CHECK(info(model).find("macs")->number() == 12);
  const Json report = info(model, {"--shape", "x=5x4"});
  CHECK(report.find("macs")->number() == 60);
  // Two values of [5,3] are alive at once beside nothing else: product and positive, later positive and y.
  CHECK(report.find("peak_activation_bytes")->number() == 5 * (4 + 3) * 4);
  const test::Outcome wrong = test::run_mlopt({"info", model, "--shape", "z=5x4"});
  CHECK(wrong.status == 2);
}

TEST_CASE("info reads the weights when asked to") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers);
  CHECK_FALSE(info(model).find("weights"));
  const Json report = info(model, {"--weights"});
  const Json& w = report.find("weights")->items().at(0);
  CHECK(w.find("name")->string() == "w");
  CHECK(w.find("min")->number() == -6);
  CHECK(w.find("max")->number() == 9);
  CHECK(w.find("sparsity")->number() == 0);
}
