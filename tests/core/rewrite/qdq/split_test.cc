#include "core/rewrite/qdq/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// x rounded to steps of 0.1, of which `parts` are taken and rounded to steps of `other`.
std::string graph(const std::string& parts, const std::string& other = "s") {
  return "g (float[2,4] x) => (float[2,3] y) <float s = {0.1}, float t = {0.2}, uint8 zero = {5}, int64[2] sizes = "
         "{1, 3}> { q = QuantizeLinear (x, s, zero)  d = DequantizeLinear (q, s, zero)  " +
         parts + " = Split <axis = 1> (d, sizes)  r = QuantizeLinear (b, " + other +
         ", zero)  y = DequantizeLinear (r, " + other + ", zero) }";
}

}  // namespace

TEST_CASE("what is split stays integers where all parts are rounded to its steps, or are not wanted") {
  CHECK(test::rewritten(qdq::split, graph("a, b"), 21, 1e-6) == "QuantizeLinear Split DequantizeLinear");
  CHECK(test::rewritten(qdq::split, graph(", b"), 21, 1e-6) == "QuantizeLinear Split DequantizeLinear");
}

TEST_CASE("what is split into parts with other steps stays in floats") {
  CHECK(test::declined(qdq::split, graph("a, b", "t")) == "a part is not rounded to the steps of the whole");
}
