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

TEST_CASE("what the processor can do at most is measured when asked for") {
  const test::Outcome outcome = run_mlopt({"devices", "--measure", "--threads", "2", "--json", "-"});
  REQUIRE(outcome.status == 0);  // in a build without the CPU backend too
  const Json report = Json::parse(outcome.out);
  for (const Json& device : report.find("devices")->items()) {
    const Json* all = device.find("measured");
    REQUIRE(all);
    CHECK(all->is_null() == (device.find("name")->string() != "cpu" || !device.find("ready")->boolean()));
    if (all->is_null()) continue;
    const Json* one = all->find("one_thread");
    CHECK(all->find("threads")->integer() == 2);
    CHECK(one->find("threads")->integer() == 1);
    for (const Json* measured : {all, one}) {
      const int64_t matrix = measured->find("matrix")->integer();
      CHECK(
          (matrix == 2048 || (matrix >= 256 && measured->find("gflops")->number() < 100)));  // less where that is slow
      CHECK(measured->find("copy_bytes")->integer() > 0);
      CHECK(measured->find("runs")->integer() >= 3);
      for (const std::string key : {"gflops", "int8_gops", "copy_gb_per_s"}) {
        INFO(key);
        const double best = measured->find(key)->number(), median = measured->find(key + "_median")->number();
        CHECK(median > 0);
        CHECK(best >= median);
      }
    }
  }
  CHECK_FALSE(Json::parse(run_mlopt({"devices", "--json", "-"}).out).find("devices")->items()[0].find("measured"));
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
  CHECK(run_mlopt({"run", model, "--device", "gpu", "--fallback", "cpu"}).status == 4);
  CHECK(run_mlopt({"run", model, "--device", "gpu", "--fallback", "tpu"}).status == 2);
  CHECK(run_mlopt({"run", model, "--fallback", "cpu"}).status == 2);
}
