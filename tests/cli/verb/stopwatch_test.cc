#include "cli/verb/stopwatch.h"

#include "core/onnx/io.h"
#include "core/report/json.h"
#include "tests/support/catch.h"
#include "tests/support/program.h"
#include "tests/support/rewrite.h"
#include "tests/support/temp_dir.h"

using namespace mlopt;
using test::run_mlopt;

TEST_CASE("prune removes channels until a run takes less time, and rounds widths as the device likes them") {
  const test::TempDir folder;
  const std::string model = folder / "m.onnx", out = folder / "o.onnx";
  write_model(test::fixture(R"(g (float[1,16] x, float[16,4096] U, float[4096,512] V) => (float[1,512] y) {
    [first] a = MatMul (x, U)
    r = Relu (a)
    [second] y = MatMul (r, V)
  })"),
              model);
  const auto prune = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"prune", model, "-o", out, "--granularity", "channel", "--bench", "0.02", "--json",
                                     "-", "--threads", "1"});
    return run_mlopt(options);
  };
  const test::Outcome done = prune({"--latency", "0.98x", "--round", "auto"});
  INFO(done.err << done.out);
  REQUIRE(done.status == 0);
  const Json report = Json::parse(done.out);
  CHECK(report.find("widths_tried")->items().size() > 8);
  const std::string spec = report.find("spec")->string();
  CHECK(spec.find("latency") == std::string::npos);
  CHECK(spec.find("auto") == std::string::npos);
  const Dims made = read_model(out).graph->find("V")->constant->dims();
  CHECK(made[0] < 4096);
  REQUIRE(prune({"--method", spec}).status == 0);
  CHECK(read_model(out).graph->find("V")->constant->dims() == made);
  CHECK(prune({"--latency", "fast"}).status == 2);
  CHECK(prune({"--latency", "0.5x", "--flops", "50%"}).status == 2);
  CHECK(run_mlopt({"prune", model, "-o", out, "--latency", "0.5x"}).err.find("zeros save no time") !=
        std::string::npos);
}
