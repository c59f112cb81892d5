#include "core/rewrite/fusion/mask.h"

#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// The value m of a graph of this text.
bool leaves_keys(const std::string& inputs, const std::string& constants, const std::string& nodes) {
  const Model model = test::fixture("g (float[2] x" + inputs + ") => (float[2] y) <float zero = {0}" + constants +
                                    "> { " + nodes + " y = Relu (x) }");
  return fusion::leaves_keys(model.graph->find("m"));
}

}  // namespace

TEST_CASE("keys are left by no mask, finite numbers, and constants that hide no row whole") {
  CHECK(fusion::leaves_keys(nullptr));
  CHECK(leaves_keys("", ", float[2,3] m = {0, -inf, -inf, -inf, -inf, 0}", ""));
  CHECK(leaves_keys("", ", float[3] m = {-1e30, -1e30, -1e30}", ""));
  CHECK(leaves_keys(", bool[2,3] seen", ", float low = {-1e9}", "m = Where (seen, zero, low)"));
}

TEST_CASE("minus infinity where the run says may hide all") {
  CHECK_FALSE(leaves_keys("", ", float[2,3] m = {0, -inf, -inf, -inf, -inf, -inf}", ""));
  CHECK_FALSE(leaves_keys(", bool[2,3] seen", ", float low = {-inf}", "m = Where (seen, zero, low)"));
  CHECK_FALSE(leaves_keys(", bool[2,3] seen, float[3] other", ", float low = {-1e9}", "m = Where (seen, other, low)"));
  CHECK_FALSE(leaves_keys(", float[2,3] m", "", ""));
}
