#include "tests/support/catch.h"
#include "tests/support/older.h"

using mlopt::test::in_older;
using mlopt::test::not_in_older;

TEST_CASE("axes of reductions become an attribute, also where they are computed") {
  CHECK(in_older("g (float[N,3,4] x) => (float[N,1,1] y) <int64[2] a = {1, -1}> { y = ReduceMean (x, a) }", 18, 17) ==
        "ReduceMean");
  CHECK(in_older(R"(g (float[N,3,4] x) => (float[N,3] y) <int64[1] one = {1}> {
    s = Shape (x)  r = Size (s)  a = Sub (r, one)  y = ReduceMax <keepdims = 0> (x, a) })",
                 18, 13) == "ReduceMax");
  CHECK(in_older("g (float[N,3] x) => (float[1,1] y) { y = ReduceL2 (x) }", 18, 11) == "ReduceL2");
  CHECK(in_older("g (float[N,3] x) => (float[N] y) <int64[1] a = {1}> { y = ReduceSum <keepdims = 0> (x, a) }", 18,
                 11) == "ReduceSum");
  CHECK(in_older("g (float[N,3] x) => (float[N,3] y) { y = ReduceMean <noop_with_empty_axes = 1> (x) }", 18, 17) ==
        "Identity");
  CHECK(not_in_older("g (float[N,3] x) => (float[N,3] y) { y = ReduceL2 <noop_with_empty_axes = 1> (x) }", 18, 17) ==
        "without axes it reduces nothing");
  CHECK(not_in_older("g (float[N,3] x, int64[1] a) => (y) { y = ReduceMean (x, a) }", 18, 17) ==
        "its axes are not constant");
}

TEST_CASE("axes that something else reads stay for it") {
  CHECK(in_older(R"(g (float[N,3] x) => (float[N,1] y, int64[1] b) <int64[1] zero = {0}, int64[1] one = {1}> {
    a = Add (zero, one)  y = ReduceMean (x, a)  b = Neg (a) })",
                 18, 17) == "Add ReduceMean Neg");
}

TEST_CASE("Squeeze and Unsqueeze have attributes") {
  CHECK(in_older(R"(g (float[N,1,4] x) => (float[N,4,1] y) <int64[1] a = {1}, int64[1] b = {-1}> {
    h = Squeeze (x, a)  y = Unsqueeze (h, b) })",
                 21, 11) == "Squeeze Unsqueeze");
  CHECK(in_older("g (float[2,1,4] x) => (float[2,4] y) { y = Squeeze (x) }", 13, 11) == "Squeeze");
  CHECK(not_in_older("g (float[2,4] x, int64[1] a) => (y) { y = Unsqueeze (x, a) }", 13, 11) ==
        "its axes are not constant");
}

TEST_CASE("parts of Split have sizes where they are not equal") {
  CHECK(in_older("g (float[N,6] x) => (float[N,3] a, float[N,3] b) { a, b = Split <axis = 1, num_outputs = 2> (x) }",
                 18, 13) == "Split");
  CHECK(in_older("g (float[N,7] x) => (float[N,4] a, float[N,3] b) { a, b = Split <axis = -1, num_outputs = 2> (x) }",
                 18, 11) == "Split");
  CHECK(not_in_older("g (float[N,7] x) => (float[M,7] a, float[L,7] b) { a, b = Split <num_outputs = 2> (x) }", 18,
                     17) == "the size of what it splits is not known");
  CHECK(not_in_older("g (float[N,7] x, int64[2] s) => (a, b) { a, b = Split <axis = 1> (x, s) }", 13, 11) ==
        "the sizes of its parts are not constant");
}

TEST_CASE("pads of some axes become pads of all") {
  CHECK(in_older(R"(g (float[N,3,4] x) => (float[N,3,9] y) <int64[2] p = {2, 3}, int64[1] a = {-1}> {
    y = Pad (x, p, , a) })",
                 18, 17) == "Pad");
  CHECK(not_in_older("g (float[N,4] x, int64[2] p) => (y) <int64[1] a = {1}> { y = Pad (x, p, , a) }", 18, 17) ==
        "its axes or its pads are not constant");
}

TEST_CASE("Resize of opset 11 has all its inputs") {
  CHECK(in_older(R"(g (float[1,2,4,4] x) => (float[1,2,8,8] y) <int64[4] s = {1, 2, 8, 8}> {
    y = Resize <mode = "linear"> (x, , , s) })",
                 19, 11) == "Resize");
}

TEST_CASE("Dropout is what it is out of training") {
  CHECK(in_older(R"(g (float[N,3] x) => (float[N,3] y) <float r = {0.4}, bool t = {0}> { y = Dropout (x, r, t) })", 22,
                 11) == "Dropout");
  CHECK(not_in_older("g (float[N,3] x, bool t) => (float[N,3] y) { y = Dropout (x, , t) }", 22, 11) ==
        "older opsets do not train");
  CHECK(not_in_older("g (float[N,3] x) => (float[N,3] y, bool[N,3] m) { y, m = Dropout (x) }", 22, 11) ==
        "its mask is read");
}

TEST_CASE("the axis of DFT becomes an attribute") {
  CHECK(in_older("g (float[N,8,1] x) => (float[N,8,2] y) <int64 a = {1}> { y = DFT (x, , a) }", 20, 17) == "DFT");
  CHECK(not_in_older("g (float[N,8,1] x, int64 a) => (y) { y = DFT (x, , a) }", 20, 17) == "its axis is not constant");
}
