#include "tests/support/catch.h"
#include "tests/support/older.h"

using mlopt::test::in_older;
using mlopt::test::not_in_older;

TEST_CASE("a part of a shape is sliced from it") {
  CHECK(in_older("g (float[N,3,4] x) => (int64[2] y) { y = Shape <start = 1> (x) }", 15, 14) == "Shape Slice");
  CHECK(in_older("g (float[N,3,4] x) => (int64[1] y) { y = Shape <start = -2, end = -1> (x) }", 21, 11) ==
        "Shape Slice");
  CHECK(in_older("g (float[N,3,4] x) => (int64[3] y) { y = Shape (x) }", 21, 13) == "Shape");
}

TEST_CASE("Softmax of one axis, where older opsets take all from it on") {
  CHECK(in_older("g (float[N,3,4] x) => (float[N,3,4] y) { y = Softmax (x) }", 13, 11) == "Softmax");
  CHECK(in_older("g (float[N,3,4] x) => (float[N,3,4] y) { y = Softmax <axis = 1> (x) }", 13, 11) ==
        "Transpose Softmax Transpose");
  CHECK(in_older("g (float[N,3,4] x) => (float[N,3,4] y) { y = LogSoftmax <axis = -3> (x) }", 13, 11) ==
        "Transpose LogSoftmax Transpose");
}

TEST_CASE("lists and numbers of Constant become tensors") {
  CHECK(in_older("g (int64[2] x) => (int64[2] y) { c = Constant <value_ints = [3, 4]> ()  y = Mul (x, c) }", 13, 11) ==
        "Constant Mul");
  CHECK(in_older("g (float[2] x) => (float[2] y) { c = Constant <value_float = 0.5> ()  y = Mul (x, c) }", 21, 11) ==
        "Constant Mul");
}

TEST_CASE("comparisons that older opsets lack are written as the standard says") {
  CHECK(in_older("g (float[N] x, float[N] z) => (bool[N] y) { y = GreaterOrEqual (x, z) }", 16, 11) ==
        "Greater Equal Or");
  CHECK(in_older("g (float[N] x, float[N] z) => (bool[N] y) { y = LessOrEqual (x, z) }", 23, 11) == "Less Equal Or");
}

TEST_CASE("the larger of two integers is chosen by a comparison") {
  CHECK(in_older("g (int64[N] x, int64[1] z) => (int64[N] y) { y = Max (x, z) }", 13, 11) == "Greater Where");
  CHECK(in_older("g (int32[N] x, int32[N] z) => (int32[N] y) { y = Min (x, z) }", 13, 11) == "Less Where");
  CHECK(in_older("g (float[N] x, float[N] z) => (float[N] y) { y = Min (x, z) }", 13, 11) == "Min");
  CHECK(not_in_older("g (int64[N] x) => (int64[N] y) { y = Max (x, x, x) }", 13, 11) ==
        "older opsets have it for floating point only");
}
