#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::gathers_to_split;
using test::declined;
using test::rewritten;

namespace {

/// Queries, keys and values of one product, each for itself; `axis` of theirs is taken apart after the Transpose.
std::string graph(const std::string& perm = "2, 0, 1, 3", const std::string& last = "two",
                  const std::string& shape = "0, 0, 3, 4") {
  return "g (double[B,N,12] x) => (double[B,N,4] p, double[B,N,4] q, double[B,N,4] r) <int64[4] s = {" + shape +
         "}, int64 zero = {0}, int64 one = {1}, int64 two = {2}> { a = Reshape (x, s)  b = Transpose <perm = [" + perm +
         "]> (a)  c = Gather <axis = 0> (b, zero)  d = Gather <axis = 0> (b, one)  e = Gather <axis = 0> (b, " + last +
         ")  p = Relu (c)  q = Neg (d)  r = Abs (e) }";
}

}  // namespace

TEST_CASE("rows of a product that was parted come from one Split") {
  CHECK(rewritten(gathers_to_split, graph()) == "Split Relu Neg Abs");
  CHECK(rewritten(gathers_to_split, graph(), 11) == "Split Relu Neg Abs");
  CHECK(rewritten(gathers_to_split, R"(g (double[B,N,12] x) => (double[B,N,6] p, double[B,N,6] q)
    <int64[4] s = {0, 0, 2, 6}, int64[1] zero = {0}>
    { a = Reshape (x, s)  b = Transpose <perm = [2, 0, 1, 3]> (a)  c, d = Split <axis = 0, num_outputs = 2> (b)
      e = Squeeze (c, zero)  f = Squeeze (d, zero)  p = Relu (e)  q = Neg (f) })") == "Split Relu Neg");
}

TEST_CASE("rows that are sliced one by one come from one Split too, as PyTorch's newer exporter writes unbind") {
  const auto sliced = [](const std::string& from, const std::string& end) {
    return R"(g (double[B,N,12] x) => (double[B,N,6] p, double[B,N,6] q)
      <int64[4] s = {0, 0, 2, 6}, int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] last = {-1}>
      { a = Reshape (x, s)  b = Transpose <perm = [2, 0, 1, 3]> (a)  c = Slice (b, zero, one, zero)  d = Slice (b, )" +
           from + ", " + end + ", zero)  e = Squeeze (c, zero)  f = Squeeze (d, zero)  p = Relu (e)  q = Neg (f) }";
  };
  CHECK(rewritten(gathers_to_split, sliced("one", "two")) == "Split Relu Neg");
  CHECK(rewritten(gathers_to_split, sliced("last", "two")) == "Split Relu Neg");
  CHECK(declined(gathers_to_split, sliced("zero", "one")).empty());
}

TEST_CASE("a row whose axis a Reshape takes away is a part too") {
  CHECK(rewritten(gathers_to_split, R"(g (double[B,5,12] x) => (double[B,5,6] p, double[B,5,2,3] q)
      <int64[4] s = {0, 0, 2, 6}, int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[4] t = {-1, 5, 2, 3}>
      { a = Reshape (x, s)  b = Transpose <perm = [2, 0, 1, 3]> (a)  c = Slice (b, zero, one, zero)
        d = Slice (b, one, two, zero)  e = Squeeze (c, zero)  f = Reshape (d, t)  p = Relu (e)  q = Neg (f) })") ==
        "Split Unsqueeze Reshape Relu Neg");
}

TEST_CASE("rows that are made for nothing stay") {
  CHECK(declined(gathers_to_split, R"(g (double[B,N,12] x) => (double[B,N,12] y) <int64[4] s = {0, 0, 3, 4}>
    { "" = Reshape (x, s)  y = Relu (x) })")
            .empty());
  const auto parted = [](const std::string& rows) {
    return R"(g (double[B,N,12] x) => (double[B,N,6] p) <int64[4] s = {0, 0, 2, 6}, int64 zero = {0}, int64 one = {1},
      int64[1] first = {0}> { a = Reshape (x, s)  b = Transpose <perm = [2, 0, 1, 3]> (a)  )" +
           rows + "  p = Relu (e) }";
  };
  CHECK(declined(gathers_to_split, parted(R"(e = Gather (b, zero)  "" = Gather (b, one))")).empty());
  CHECK(declined(
            gathers_to_split,
            parted(R"(c, d = Split <axis = 0, num_outputs = 2> (b)  e = Squeeze (c, first)  "" = Squeeze (d, first))"))
            .empty());
}

TEST_CASE("heads are parted after the Split where attention is then one operator") {
  const std::string heads = R"(g (double[B,N,24] x) => (double[B,2,N,4] p, double[B,2,N,4] q, double[B,2,N,4] r)
    <int64[5] s = {0, 0, 3, 2, 4}, int64 zero = {0}, int64 one = {1}, int64 two = {2}>
    { a = Reshape (x, s)  b = Transpose <perm = [2, 0, 3, 1, 4]> (a)  c = Gather (b, zero)  d = Gather (b, one)
      e = Gather (b, two)  p = Relu (c)  q = Neg (d)  r = Abs (e) })";
  CHECK(declined(gathers_to_split, heads, 21).empty());
  CHECK(rewritten(gathers_to_split, heads, 23) ==
        "Split Reshape Transpose Reshape Transpose Reshape Transpose Relu Neg Abs");
}

TEST_CASE("rows stay where one is missing or taken twice, or they are not pieces of an axis") {
  CHECK(declined(gathers_to_split, graph("2, 0, 1, 3", "one")).empty());
  CHECK(declined(gathers_to_split, R"(g (double[B,N,12] x) => (double[B,N,4] p, double[B,N,4] q)
    <int64[4] s = {0, 0, 4, 3}, int64 zero = {0}, int64 one = {1}>
    { a = Reshape (x, s)  b = Transpose <perm = [3, 0, 1, 2]> (a)  c = Gather (b, zero)  d = Gather (b, one)
      p = Relu (c)  q = Neg (d) })")
            .empty());
  CHECK(declined(gathers_to_split, R"(g (double[B,N,12] x) => (double[B,N,4] p, double[B,N,4] q, double[B,N,4] r)
    <int64[4] s = {0, 0, 4, 3}, int64 zero = {0}, int64 one = {1}, int64 two = {2}>
    { a = Reshape (x, s)  b = Transpose <perm = [3, 0, 1, 2]> (a)  c = Gather (b, zero)  d = Gather (b, one)
      e = Gather (b, two)  p = Relu (c)  q = Neg (d)  r = Abs (e) })")
            .empty());
}
