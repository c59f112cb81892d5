#include "core/base/file.h"
#include "core/report/json.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/program.h"

using namespace mlopt;
using test::run_mlopt;

TEST_CASE("a valid model passes, with what a target cannot run") {
  const test::TempDir folder;
  const std::string good = write_text_model(folder, "good.onnx", test::kTwoLayers);
  CHECK(run_mlopt({"check", good}).status == 0);
  CHECK(run_mlopt({"check", good, "--target", "onnx"}).status == 0);
  CHECK(run_mlopt({"check", good, "--target", "reference"}).status == 0);
  const std::string custom = write_text_model(folder, "custom.onnx",
                                              "<ir_version: 10, opset_import: [\"\" : 21, \"nowhere\" : 1]> g "
                                              "(float[4] x) => (float[4] y) { y = nowhere.Thing (x) }");
  CHECK(run_mlopt({"check", custom}).status == 0);
  for (const char* target : {"onnx", "ort", "openvino", "tensorrt", "reference"}) {
    const test::Outcome outcome = run_mlopt({"check", custom, "--target", target});
    INFO(target);
    CHECK(outcome.status == 1);
    CHECK(outcome.out.find("Thing") != std::string::npos);
  }
  CHECK(run_mlopt({"check", good, "--target", "onxn"}).err.find("did you mean 'onnx'?") != std::string::npos);
}

TEST_CASE("an invalid model is status 3, and the report has every finding") {
  const test::TempDir folder;
  const std::string bad = write_text_model(
      folder, "bad.onnx",
      "<ir_version: 10, opset_import: [\"\" : 21]> g (float[4] x) => (float[4] y) { y = Relu <alpha = 2> (x) }");
  const test::Outcome outcome = run_mlopt({"check", bad, "--json", "-"});
  CHECK(outcome.status == 3);
  CHECK(outcome.err.rfind("error: ", 0) == 0);
  const Json report = Json::parse(outcome.out);
  CHECK_FALSE(report.find("valid")->boolean());
  CHECK(report.find("findings")->items().size() >= 1);
  CHECK(report.find("error")->find("code")->number() == 3);
  REQUIRE(run_mlopt({"check", bad, "-q", "--junit", folder / "r.xml", "--markdown", folder / "r.md"}).status == 3);
  CHECK(read_file(folder / "r.xml").find("failures=\"1\"") != std::string::npos);
  CHECK(read_file(folder / "r.md").find("**error**") != std::string::npos);
}
