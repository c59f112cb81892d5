#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_requantization;
using test::declined;
using test::rewritten;

TEST_CASE("the same codes are not made twice") {
  CHECK(rewritten(eliminate_requantization, R"(g (uint8[N] x) => (float[N] y)
    <float s = {0.1}, float t = {0.1}, uint8 z = {3}>
    { a = DequantizeLinear (x, s, z)  b = QuantizeLinear (a, t, z)  y = DequantizeLinear (b, s, z) })") ==
        "DequantizeLinear");
}

TEST_CASE("other steps, other types and computed scales stay") {
  const auto pair = [](const std::string& first, const std::string& second, const std::string& y = "uint8") {
    return "g (uint8[N] x, float v) => (" + y +
           "[N] y) <float s = {0.1}, float t = {0.2}, uint8 z = {3}, uint8 u = {4}, int8 i = {3}>"
           "{ a = DequantizeLinear (x, " +
           first + ")  y = QuantizeLinear (a, " + second + ") }";
  };
  const std::string steps = "its steps are others than those before";
  CHECK(declined(eliminate_requantization, pair("s, z", "t, z")) == steps);
  CHECK(declined(eliminate_requantization, pair("s, z", "s, u")) == steps);
  CHECK(declined(eliminate_requantization, pair("s, z", "s, i", "int8")) == "its codes have another type");
  CHECK(declined(eliminate_requantization, pair("v, z", "v, z")) == "its scale is not constant");
}

TEST_CASE("codes whose numbers are infinite in the type of the scale stay") {
  const auto pair = [](const std::string& scale) {  // the bits of a float16
    return "g (int8[N] x) => (int8[N] y) <float16 s = {" + scale +
           "}, int8 z = {-128}> { a = DequantizeLinear (x, s, z)  b = QuantizeLinear (a, s, z)  y = Abs (b) }";
  };
  CHECK(declined(eliminate_requantization, pair("25552")) == "its scale is not an ordinary number");
  CHECK(rewritten(eliminate_requantization, pair("16896")) == "Abs");
}

TEST_CASE("codes whose numbers are of another type than the scale stay") {
  const auto pair = [](const std::string& type) {
    return "g (uint8[N] x) => (uint8[N] y) <float s = {300.0}, uint8 z = {3}> { a = DequantizeLinear <output_dtype = " +
           type + "> (x, s, z)  b = QuantizeLinear (a, s, z)  y = Abs (b) }";
  };
  CHECK(declined(eliminate_requantization, pair("10"), 23) == "its floats are not of the type of its scale");
  CHECK(rewritten(eliminate_requantization, pair("1"), 23) == "Abs");
}
