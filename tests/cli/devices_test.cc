#include "core/report/json.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/program.h"

using namespace mlopt;
using test::run_mlopt;

TEST_CASE("devices lists what is here and what is missing") {
  const test::Outcome outcome = run_mlopt({"devices", "--json", "-"});
  REQUIRE(outcome.status == 0);
  const Json report = Json::parse(outcome.out);
  CHECK_FALSE(report.find("environment")->find("cpu")->string().empty());
  int defaults = 0;
  for (const Json& device : report.find("devices")->items()) {
    defaults += device.find("default")->boolean();
    const bool ready = device.find("ready")->boolean();
    CHECK(device.find("missing")->string().empty() == ready);
    if (device.find("name")->string() == "reference") CHECK(ready);
  }
  CHECK(defaults == 1);
}

TEST_CASE("a device that is not here is status 4 and names the library") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers);
  for (const char* device : {"gpu", "gpu:1"}) {
    const test::Outcome outcome = run_mlopt({"run", model, "--device", device});
    if (outcome.status == 0) return test::skip("this machine has a GPU");
    CHECK(outcome.status == 4);
    CHECK(outcome.err.find("fix: ") != std::string::npos);
    CHECK(outcome.err.find("lib") != std::string::npos);
  }
  CHECK(run_mlopt({"run", model, "--device", "gpu:x"}).status == 2);
}
