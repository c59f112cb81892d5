#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::push_transposes;
using test::declined;
using test::rewritten;

TEST_CASE("a Transpose moves to the one that cancels it") {
  // merge_transposes then makes none of the two.
  CHECK(rewritten(push_transposes, R"(g (double[N,2,3,4] x, double[2] C) => (double[N,2,3,4] y) <double lo = {0.25}>
    { a = Transpose <perm = [0, 2, 3, 1]> (x)  b = Relu (a)  c = Mul (b, C)  d = Clip (c, lo)
      y = Transpose <perm = [0, 3, 1, 2]> (d) })") == "Relu Mul Clip Transpose Transpose");
}

TEST_CASE("a Squeeze and a Transpose move together to what undoes both") {
  // merge_layouts then makes nothing of the four (madmom's convolutions of one recording at a time).
  CHECK(rewritten(push_transposes, R"(g (double[1,2,3,4] x) => (double[1,2,5,8] y)
    <int64[1] first = {0}, int64[6] pads = {1, 2, 0, 1, 2, 0}>
    { a = Transpose <perm = [0, 2, 3, 1]> (x)  b = Squeeze (a, first)  c = Elu (b)  d = Pad (c, pads)
      e = Unsqueeze (d, first)  y = Transpose <perm = [0, 3, 1, 2]> (e) })") ==
        "Elu Pad Transpose Squeeze Unsqueeze Transpose");
}

TEST_CASE("a Transpose moves to one with which it is one, whatever is squeezed between them") {
  CHECK(rewritten(push_transposes, R"(g (double[1,2,3,4] x) => (double[3,2,4] y) <int64[1] first = {0}>
    { a = Transpose <perm = [0, 2, 3, 1]> (x)  b = Squeeze (a, first)  c = Elu (b)
      y = Transpose <perm = [0, 2, 1]> (c) })") == "Elu Transpose Squeeze Transpose");
  CHECK(rewritten(push_transposes, R"(g (double[1,2,3,4] x) => (double[1,3,4,2] y) <int64[1] first = {0}>
    { a = Transpose <perm = [0, 2, 3, 1]> (x)  b = Squeeze (a, first)  c = Elu (b)
      y = Unsqueeze (c, first) })") == "Elu Transpose Squeeze Unsqueeze");
}

TEST_CASE("two Transposes in one way become one behind a sum or Concat") {
  CHECK(rewritten(push_transposes, R"(g (double[N,2,3] x, double[N,2,3] z) => (double[N,3,2] y)
    { a = Transpose <perm = [0, 2, 1]> (x)  b = Transpose <perm = [0, 2, 1]> (z)  y = Add (a, b) })") ==
        "Add Transpose");
  CHECK(rewritten(push_transposes, R"(g (double[N,2,3] x, double[N,2,3] z) => (double[N,3,4] y)
    { a = Transpose <perm = [0, 2, 1]> (x)  b = Transpose <perm = [0, 2, 1]> (z)  y = Concat <axis = -1> (a, b) })") ==
        "Concat Transpose");
}

TEST_CASE("two Transposes move to where they become one") {
  CHECK(rewritten(push_transposes, R"(g (double[N,2,3] x, double[N,2,3] z) => (double[N,3,2] y)
    { a = Transpose <perm = [0, 2, 1]> (x)  b = Mul (a, a)  c = Transpose <perm = [0, 2, 1]> (z)  d = Mul (c, c)
      e = Add (b, d)  y = Sqrt (e) })") == "Mul Mul Add Transpose Sqrt");
}

TEST_CASE("a reduction needs no Transpose before it") {
  CHECK(rewritten(push_transposes, R"(g (double[N,2,3,4] x) => (double[N,2] y) <int64[2] axes = {1, 2}>
    { a = Transpose <perm = [0, 2, 3, 1]> (x)  y = ReduceMean <keepdims = 0> (a, axes) })") == "ReduceMean");
  CHECK(rewritten(push_transposes, R"(g (double[N,2,3,4] x) => (double[N,1,1,2] y)
    { a = Transpose <perm = [0, 2, 3, 1]> (x)  y = ReduceMax <axes = [1, 2]> (a) })",
                  13) == "ReduceMax Transpose");
}

TEST_CASE("a Transpose stays where none goes, others read it, or a matrix is added") {
  const std::string none = "no Transpose would go when it were moved";
  CHECK(declined(push_transposes, R"(g (double[N,2,3] x) => (double[N,3,2] y)
    { a = Transpose <perm = [0, 2, 1]> (x)  y = Relu (a) })") == none);
  CHECK(declined(push_transposes, R"(g (double[N,2,3] x) => (double[N,2,3] y, double[N,3,2] a)
    { a = Transpose <perm = [0, 2, 1]> (x)  b = Relu (a)  y = Transpose <perm = [0, 2, 1]> (b) })")
            .empty());
  CHECK(declined(push_transposes, R"(g (double[N,2,3] x, double[3,2] C) => (double[N,2,3] y)
    { a = Transpose <perm = [0, 2, 1]> (x)  b = Add (a, C)  y = Transpose <perm = [0, 2, 1]> (b) })") ==
        "its inputs are not transposed in one way");
  CHECK(
      declined(push_transposes, R"(g (double[1,2,3] x) => (double[2,3,1] y) <int64[1] first = {0}, int64[1] last = {2}>
    { a = Squeeze (x, first)  b = Elu (a)  y = Unsqueeze (b, last) })") == none);
  CHECK(declined(push_transposes, R"(g (double[N,2,3] x) => (double[N,3,2] b, double[N,3,2] c, double[2,3,N] y)
    { a = Transpose <perm = [0, 2, 1]> (x)  b = Relu (a)  c = Neg (b)  y = Transpose <perm = [2, 1, 0]> (b) })") ==
        none);
  CHECK(declined(push_transposes, R"(g (double[N,2,3] x) => (double[N,3,2] y)
    { a = Transpose <perm = [0, 2, 1]> (x)  y = Mul (a, a) })") == none);
  CHECK(declined(push_transposes, R"(g (double[N,2,3] x) => (double[N,3,4] y)
    { a = Transpose <perm = [0, 2, 1]> (x)  y = Concat <axis = 2> (a, a) })") == none);
  CHECK(declined(push_transposes, R"(g (double[2,2,2] x, double[2,2,2] z) => (double[2,2,2] y)
    { a = Transpose <perm = [0, 2, 1]> (x)  b = Transpose <perm = [1, 0, 2]> (z)  y = Add (a, b) })") ==
        "its inputs are not transposed in one way");
  CHECK(declined(push_transposes, R"(g (double[N,2,3] x) => (double[3,2] y) <int64[1] axes = {0}>
    { a = Transpose <perm = [0, 2, 1]> (x)  y = ReduceSum <keepdims = 0> (a, axes) })") ==
        "the axes that it leaves are in another order");
}

TEST_CASE("a reduction over no axes stays behind its Transpose") {
  CHECK(declined(push_transposes, R"(g (double[2,3,4] x) => (double[4,2,3] y) <int64[0] none = {}>
    { a = Transpose <perm = [2, 0, 1]> (x)  y = ReduceSum <noop_with_empty_axes = 1> (a, none) })") ==
        "it reduces nothing");
}
