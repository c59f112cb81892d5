#include "core/rewrite/lower/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

std::string lowered(const std::string& call) {
  return test::rewritten(lower::sum,
                         "g (float[2,1,6] x, float[5,6] z, float[6] B) => (float[2,5,6] y) { y = " + call + " }", 17,
                         1e-6, Target::kKernels);
}

}  // namespace

TEST_CASE("a sum of many is one addition less than it has terms") {
  CHECK(lowered("Sum (x, z)") == "Add");
  CHECK(lowered("Sum (B, x, z)") == "Add Add");
  CHECK(lowered("Sum (x, B, x, z)") == "Add Add Add");
}

TEST_CASE("a sum of one stays") {
  CHECK(test::declined(lower::sum, "g (float[2] x) => (float[2] y) { y = Sum (x) }", 17, Target::kKernels) ==
        "it has one term");
}
