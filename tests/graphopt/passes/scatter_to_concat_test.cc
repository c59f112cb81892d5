#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::scatter_to_concat;
using test::declined;
using test::rewritten;

namespace {

/// Rows of x [5, 3] at these places filled with u.
std::string rows(const std::string& places, const std::string& count, const std::string& attributes = "") {
  return "g (double[5,3] x, double[" + count + ",3] u) => (double[5,3] y) <int64[" + count + ",1] at = {" + places +
         "}> { y = ScatterND " + attributes + " (x, at, u) }";
}

/// x[:, from:to, ...] = u, as PyTorch's exporter writes it: a column of indices [B, ...] for each axis.
std::string box(const std::string& x, const std::string& u, const std::string& places, const std::string& columns) {
  return "g (double[" + x + "] x, double[" + u + "] u) => (double[" + x +
         "] y) <int64 zero = {0}, int64 one = {1}, int64[1] last = {-1}, " + places +
         "> { s = Shape (x)  n = Gather (s, zero)  r = Range (zero, n, one)  b = Reshape (r, batch) "
         "all = Add (b, rest)  shape = Shape (all) "
         "bb = Expand (b, shape)  cb = Unsqueeze (bb, last) " +
         columns + "  y = ScatterND (x, at, u) }";
}

}  // namespace

TEST_CASE("rows that follow one another are joined with those before and behind them") {
  CHECK(rewritten(scatter_to_concat, rows("1, 2", "2")) == "Slice Slice Concat");
  CHECK(rewritten(scatter_to_concat, rows("0, 1", "2")) == "Slice Concat");
  CHECK(rewritten(scatter_to_concat, rows("3, 4", "2")) == "Slice Concat");
  CHECK(rewritten(scatter_to_concat, rows("-1", "1")) == "Slice Concat");
  CHECK(rewritten(scatter_to_concat, rows("0, 1, 2, 3, 4", "5")) == "Identity");
}

TEST_CASE("a box of some axes is parted along one after the other") {
  CHECK(rewritten(scatter_to_concat,
                  "g (double[4,6] x, double[2,3] u) => (double[4,6] y) <int64[2,3,2] at = {1, 2, "
                  "1, 3, 1, 4, 2, 2, 2, 3, 2, 4}> { y = ScatterND (x, at, u) }") ==
        "Slice Slice Slice Slice Concat Slice Concat");
}

TEST_CASE("whole axes of any length are filled too") {
  const std::string places = "int64[2] batch = {-1, 1}, int64[2] rest = {1, 2}";
  const std::string columns = "p = Expand (rest, shape)  cp = Unsqueeze (p, last)  at = Concat <axis = -1> (cb, cp)";
  CHECK(rewritten(scatter_to_concat, box("B,5,3", "B,2,3", places, columns)).ends_with("Slice Slice Concat"));
  // One place of an axis, which what fills it lacks.
  const std::string place = "int64[1] batch = {-1}, int64[1] rest = {2}";
  CHECK(rewritten(scatter_to_concat, box("B,5,3", "B,3", place, columns)).ends_with("Reshape Slice Slice Concat"));
}

TEST_CASE("what a Slice leaves may be shorter than its end says") {
  const std::string slice = "g (double[N] x, double[1] u) => (double[M] y) <int64[1] from = {0}, int64[1] to = {2}, ";
  CHECK(rewritten(scatter_to_concat,
                  slice + "int64[1,1] at = {0}> { a = Slice (x, from, to)  y = ScatterND (a, at, u) }") ==
        "Slice Slice Concat");
  // All that there is, less one.
  const std::string rest =
      "g (double[N] x, double[1] u) => (double[M] y) <int64[1] from = {1}, int64[1] to = {9223372036854775807}, ";
  CHECK(rewritten(scatter_to_concat,
                  rest + "int64[1,1] at = {0}> { a = Slice (x, from, to)  y = ScatterND (a, at, u) }") ==
        "Slice Concat");
}

TEST_CASE("what several fill one after the other is joined once") {
  CHECK(rewritten(scatter_to_concat, R"(g (double[2,3] x, double[1,3] u, double[1,3] v) => (double[2,3] y)
    <int64[1,1] first = {0}, int64[1,1] second = {1}>
    { a = ScatterND (x, first, u)  y = ScatterND (a, second, v) })") == "Concat");
  CHECK(rewritten(scatter_to_concat, R"(g (double[B,4] x, double[B,1] u, double[B,2] v) => (double[B,4] y)
    <int64 one = {1}, int64 two = {2}, int64[1] last = {-1}, int64[2] more = {2, 3}>
    { su = Shape (u)  iu = Expand (one, su)  a = ScatterElements <axis = 1> (x, iu, u)
      sv = Shape (v)  iv = Expand (more, sv)  y = ScatterElements <axis = -1> (a, iv, v) })") == "Slice Concat");
}

TEST_CASE("a value of any length that is joined twice is read twice") {
  CHECK(rewritten(scatter_to_concat, R"(g (double[N,3] c, double[1,3] u) => (double[M,3] y) <int64[1,1] first = {0}>
    { x = Concat <axis = 0> (c, c)  y = ScatterND (x, first, u) })") == "Concat Slice Concat");
}

TEST_CASE("the axis that an exporter brought to the front is filled where it lay") {
  CHECK(rewritten(scatter_to_concat, R"(g (double[4,B,6] x, double[4,B,2] u) => (double[4,B,6] y)
    <int64[2,1] at = {3, 4}>
    { xt = Transpose <perm = [2, 1, 0]> (x)  ut = Transpose <perm = [2, 1, 0]> (u)  f = ScatterND (xt, at, ut)
      y = Transpose <perm = [2, 1, 0]> (f) })") == "Transpose Transpose Slice Slice Concat Transpose Transpose");
}

TEST_CASE("other places, and values that are added, stay") {
  const std::string other = "its indices do not count along the axes";
  CHECK(declined(scatter_to_concat, rows("1, 1", "2")) == other);
  CHECK(declined(scatter_to_concat, rows("2, 1", "2")) == other);
  CHECK(declined(scatter_to_concat, rows("0, 2", "2")) == other);
  CHECK(declined(scatter_to_concat, rows("1, 2", "2", "<reduction = \"add\">")) == "it adds, or takes the largest");
  CHECK(declined(scatter_to_concat, R"(g (double[4,4] x, double[2,2] u) => (double[4,4] y)
    <int64[2,2,2] at = {0, 0, 1, 0, 0, 1, 1, 1}> { y = ScatterND (x, at, u) })") == other);  // turned
  CHECK(declined(scatter_to_concat, R"(g (double[4,4] x, double[2] u) => (double[4,4] y)
    <int64[2,2] at = {0, 0, 1, 1}> { y = ScatterND (x, at, u) })") == other);                // a diagonal
  CHECK(declined(scatter_to_concat, R"(g (double[4,6] x, double[2,6] u) => (double[4,6] y)
    <int64 one = {1}> { s = Shape (u)  at = Expand (one, s)  y = ScatterElements <axis = 0> (x, at, u) })") == other);
  CHECK(declined(scatter_to_concat, R"(g (double[4,6] x, double[1,3] u) => (double[4,6] y)
    <int64[1,3] at = {1, 1, 1}> { y = ScatterElements <axis = 0> (x, at, u) })") ==
        "it does not fill all along the other axes");
}

TEST_CASE("how far it goes has to be known") {
  const std::string text = R"(g (double[N,3] x, double[M,3] u, int64[M] like) => (double[N,3] y)
    <int64 zero = {0}, int64 one = {1}, int64[1] last = {-1}>
    { s = Shape (like)  m = Squeeze (s)  r = Range ()";
  CHECK(declined(scatter_to_concat, text + "zero, m, one)  at = Unsqueeze (r, last)  y = ScatterND (x, at, u) }") ==
        "how far it goes is not known");
}

TEST_CASE("rows of a large value that are few, and boxes of rows, are filled in place") {
  CHECK(declined(scatter_to_concat, R"(g (double[64,32] x, double[1,32] u) => (double[64,32] y)
    <int64[1,1] at = {3}> { y = ScatterND (x, at, u) })") == "it is filled in place");
  CHECK(declined(scatter_to_concat, R"(g (double[4,4,32] x, double[1,1,32] u) => (double[4,4,32] y)
    <int64[1,1,2] at = {2, 1}> { y = ScatterND (x, at, u) })") == "it is filled in place");
}
