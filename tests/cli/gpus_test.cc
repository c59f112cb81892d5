#include "cli/gpus.h"

#include "backends/gpu/backend.h"
#include "tests/support/catch.h"

namespace mlopt::cli {
namespace {

StepProfile step(const std::string& node, const std::string& op, double seconds) {
  StepProfile made;
  made.node = node;
  made.op = op;
  made.seconds = seconds;
  made.calls = 4;
  return made;
}

}  // namespace

TEST_CASE("what copies for nodes on the processor cost in a run, the most costly first") {
  const std::string copies(kHostCopies);
  const std::vector<StepProfile> steps{step("a", "Einsum", 1), step("a", copies, 0.002), step("b", "Neg", 1),
                                       step("b", copies, 0.008)};
  const std::vector<NodeCopies> found = fallback_copies(steps, 4);
  REQUIRE(found.size() == 2);
  CHECK(found[0].node == "b");
  CHECK(found[0].ms == Approx(2));
  CHECK(found[1].ms == Approx(0.5));
  Report report;
  show_copies(found, "m.onnx", false, report);
  REQUIRE(report.blocks.size() == 2);
  CHECK(std::get<Table>(report.blocks[1]).rows ==
        std::vector<std::vector<std::string>>{{"b", "2.0000"}, {"a", "0.5000"}});
  show_copies({}, "m.onnx", false, report);
  CHECK(report.blocks.size() == 2);
}

TEST_CASE("a device that is no GPU has no roofline of one") { CHECK_FALSE(gpu_roofline("cpu", "fp32")); }

}  // namespace mlopt::cli
