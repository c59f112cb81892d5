#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_nop_slice;
using test::declined;
using test::rewritten;

TEST_CASE("Slice that takes everything goes") {
  CHECK(rewritten(eliminate_nop_slice, R"(g (double[N,4] x) => (double[N,4] y)
    <int64[2] s = {0, 0}, int64[2] e = {4, 9223372036854775807}, int64[2] a = {-1, 0}>
    { c = Slice (x, s, e, a)  y = Relu (c) })") == "Relu");
  CHECK(rewritten(eliminate_nop_slice, R"(g (double[N,4] x) => (double[N,4] y)
    { c = Slice <starts = [0], ends = [100], axes = [1]> (x)  y = Relu (c) })",
                  9) == "Relu");
}

TEST_CASE("a thousand million is beyond any size, as TensorFlow's exporter takes it") {
  const auto slice = [](const std::string& end) {
    return "g (double[N,M] x) => (double[N,Q] y) <int64[1] s = {0}, int64[1] a = {1}, int64[1] e = {" + end +
           "}> { c = Slice (x, s, e, a)  y = Relu (c) }";
  };
  CHECK(rewritten(eliminate_nop_slice, slice("1000000000")) == "Relu");
  CHECK(declined(eliminate_nop_slice, slice("999999999")) == "it may take a part");
}

TEST_CASE("Slice as long as its input goes, however its ends are written") {
  CHECK(rewritten(eliminate_nop_slice, R"(g (double[N,4] x) => (double[N,4] y)
    <int64[1] s = {-4}, int64[1] e = {4}, int64[1] a = {1}>
    { c = Slice (x, s, e, a)  y = Relu (c) })") == "Relu");
  CHECK(rewritten(eliminate_nop_slice, R"(g (double[N,4] x) => (double[N,4] y) <int64[1] s = {0}, int64[1] a = {0}>
    { e = Shape <start = 0, end = 1> (x)  c = Slice (x, s, e, a)  y = Relu (c) })") == "Relu");
}

TEST_CASE("Slice that takes a part, or may do so, stays") {
  const auto slice = [](const std::string& start, const std::string& end, const std::string& step) {
    return "g (double[N,4] x) => (double[N,M] y) <int64[1] s = {" + start + "}, int64[1] e = {" + end +
           "}, int64[1] a = {1}, int64[1] t = {" + step + "}> { y = Slice (x, s, e, a, t) }";
  };
  const std::string part = "it may take a part", order = "it leaves elements out or changes their order";
  CHECK(declined(eliminate_nop_slice, slice("1", "4", "1")) == part);
  CHECK(declined(eliminate_nop_slice, slice("0", "3", "1")) == part);
  CHECK(declined(eliminate_nop_slice, slice("0", "-1", "1")) == part);
  CHECK(declined(eliminate_nop_slice, slice("-1", "-5", "-1")) == order);
  CHECK(declined(eliminate_nop_slice, slice("0", "4", "2")) == order);
  CHECK(declined(eliminate_nop_slice, R"(g (double[N,4] x) => (double[M,4] y)
    <int64[1] s = {0}, int64[1] e = {100}, int64[1] a = {0}> { y = Slice (x, s, e, a) })") == part);
  CHECK(declined(eliminate_nop_slice, R"(g (double[N,4] x, int64[1] e) => (double[M,4] y)
    <int64[1] s = {0}> { y = Slice (x, s, e) })") == part);
  CHECK(declined(eliminate_nop_slice, R"(g (double[N,4] x, int64[1] t) => (double[M,4] y)
    <int64[1] s = {0}, int64[1] e = {4}> { y = Slice (x, s, e, s, t) })") == "its steps are not constant");
}
