#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

/// Two heads of 3 of 5 rows whose batch and heads are one axis, as what the nodes make `s` of is parted again.
std::string graph(const std::string& nodes, const std::string& dims = "5,5") {
  return "g (double[B,5,6] q, double[B,5,6] k, double[2,7,3] T, double[1,5,5] M, double[5] R) => (double[B,2," + dims +
         "] y) <int64[4] split = {0, 0, 2, 3}, int64[3] joined = {-1, 5, 3}, int64[4] parted = {-1, 2, " + dims +
         "}, double half = {0.5}, int64[1] one = {1}, int64[1] two = {2}> "
         "{ q4 = Reshape (q, split)  k4 = Reshape (k, split)  qt = Transpose <perm = [0, 2, 1, 3]> (q4)  kt = "
         "Transpose <perm = [0, 2, 1, 3]> (k4)  q3 = Reshape (qt, joined)  k3 = Reshape (kt, joined)  b = Shape <end = "
         "1> (q) " +
         nodes + "  y = Reshape (s, parted) }";
}

const std::string kSplit = "Reshape Reshape Transpose Transpose ";

/// What was done with the parted heads.
std::string parted(const std::string& nodes, const std::string& dims = "5,5") {
  const std::string all = rewritten(fusion::part_joined_scores, graph(nodes, dims));
  for (const char* once : {"Reshape", "Transpose"}) CHECK(all.find(once) != std::string::npos);
  return all;
}

}  // namespace

TEST_CASE("products, sums and what repeats alike for all matrices are made with four axes") {
  const std::string product = "t = Transpose <perm = [0, 2, 1]> (k3)  p = MatMul (q3, t)  ";
  const auto with = [&](const std::string& rest) { return parted(product + rest); };
  CHECK(with("s = Div (p, half)") == kSplit + "Transpose MatMul Div");
  CHECK(with("s = Add (p, M)") == kSplit + "Transpose MatMul Add");
  CHECK(with("s = Sub (R, p)") == kSplit + "Transpose MatMul Sub");
  CHECK(with("s = Softmax <axis = 2> (p)") == kSplit + "Transpose MatMul Softmax");
  CHECK(declined(fusion::part_joined_scores, graph(product + "s = Softmax <axis = 1> (p)")) ==
        "an operator takes batch and heads as one axis");
  CHECK(declined(fusion::part_joined_scores, graph(product + "e = Exp (p)  s = Add (p, e)")) ==
        "an operator takes batch and heads as one axis");
}

TEST_CASE("matrices of one sample are not repeated for all") {
  const std::string tiled = "times = Concat <axis = 0> (b, one, one)  t = Tile (T, times)  ";
  CHECK(parted(tiled + "u = Transpose <perm = [0, 2, 1]> (t)  p = MatMul (q3, u)  s = Mul (p, half)", "5,7") ==
        "Reshape Transpose Transpose MatMul Mul");
  // Of one matrix, as often as there are heads.
  CHECK(parted("h = Mul (b, two)  shape = Concat <axis = 0> (h, one, one)  e = Expand (M, shape)  t = Transpose "
               "<perm = [0, 2, 1]> (k3)  p = MatMul (q3, t)  s = Add (p, e)") == kSplit + "Transpose MatMul Add");
}

TEST_CASE("elements are taken by an index of all matrices") {
  const std::string tiled = "times = Concat <axis = 0> (b, one, one)  t = Tile (T, times)  ";
  const std::string product = tiled + "u = Transpose <perm = [0, 2, 1]> (t)  p = MatMul (q3, u)  ";
  const std::string index =
      "h = Mul (b, two)  shape = Concat <axis = 0> (h, one, one)  i = Constant <value = int64[1,5,4] {0, 1, 2, 3, "
      "1, 2, 3, 4, 2, 3, 4, 5, 3, 4, 5, 6, 0, 2, 4, 6}> ()  e = Expand (i, shape)  ";
  const std::string taken = parted(product + index + "g = GatherElements <axis = 2> (p, e)  s = Mul (g, half)", "5,4");
  CHECK(taken.find("Tile") == std::string::npos);
  CHECK(taken.find("GatherElements Mul") != std::string::npos);
  CHECK(declined(fusion::part_joined_scores,
                 graph(product + index + "g = GatherElements <axis = 0> (p, e)  s = Mul (g, half)", "5,4")) ==
        "an operator takes batch and heads as one axis");
}

TEST_CASE("what others read of the way to one axis for both stays") {
  const std::string twice = rewritten(
      fusion::part_joined_scores,
      "g (double[B,5,6] q) => (double[B,2,5,5] y, double[H,5,3] z) <int64[4] split = {0, 0, 2, 3}, int64[3] joined = "
      "{-1, 5, 3}, int64[4] parted = {-1, 2, 5, 5}> { q4 = Reshape (q, split)  qt = Transpose <perm = [0, 2, 1, 3]> "
      "(q4) "
      " q3 = Reshape (qt, joined)  t = Transpose <perm = [0, 2, 1]> (q3)  s = MatMul (q3, t)  y = Reshape (s, parted)  "
      "z = Exp (q3) }");
  CHECK(twice == "Reshape Transpose Reshape Transpose MatMul Exp");
}
