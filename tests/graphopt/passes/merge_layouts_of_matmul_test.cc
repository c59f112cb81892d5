#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::merge_layouts_of_matmul;
using test::declined;
using test::rewritten;

namespace {

/// Queries and keys [B, rows, heads, size], `before` and `behind` their product p of q and k.
std::string scores(const std::string& before, const std::string& behind) {
  return "g (double[B,S,2,3] x, double[B,T,2,3] z) => (double[B,2,S,T] y) <int64[3] q3 = {-1, 5, 3}, int64[3] k3 = "
         "{-1, 3, 4}, int64[4] k4 = {0, 2, 3, 4}, int64[4] s4 = {-1, 2, 5, 4}, int64[5] s5 = {-1, 2, 5, 4, 1}, "
         "int64[1] l4 = {4}> { " +
         before + "  p = MatMul (q, k)  " + behind + " }";
}

std::string fixed(std::string text) {
  for (const auto& [from, to] :
       {std::pair("B,S,2,3", "B,5,2,3"), std::pair("B,T,2,3", "B,4,2,3"), std::pair("B,2,S,T", "B,2,5,4")})
    text.replace(text.find(from), 7, to);
  return text;
}

const std::string kJoined =
    "a = Transpose <perm = [0, 2, 1, 3]> (x)  q = Reshape (a, q3)  b = Transpose <perm = [0, 2, 3, 1]> (z)  "
    "k = Reshape (b, k3)";

}  // namespace

TEST_CASE("batch axes that are joined around a product stay axes") {
  CHECK(rewritten(merge_layouts_of_matmul, fixed(scores(kJoined, "y = Reshape (p, s4)"))) ==
        "Transpose Transpose MatMul");
  CHECK(rewritten(merge_layouts_of_matmul, fixed(scores(kJoined, "r = Reshape (p, s5)  y = Squeeze (r, l4)"))) ==
        "Transpose Transpose MatMul");
}

TEST_CASE("a transposed product is one of both in the other order") {
  CHECK(rewritten(merge_layouts_of_matmul,
                  scores("q = Transpose <perm = [0, 2, 1, 3]> (z)  k = Transpose <perm = [0, 2, 3, 1]> (x)",
                         "y = Transpose <perm = [0, 1, 3, 2]> (p)")) == "Transpose Transpose MatMul");
}

TEST_CASE("batch axes come in the order that needs the fewest Transposes") {
  CHECK(rewritten(merge_layouts_of_matmul,
                  scores("q = Transpose <perm = [2, 0, 1, 3]> (x)  k = Transpose <perm = [2, 0, 3, 1]> (z)",
                         "y = Transpose <perm = [1, 0, 2, 3]> (p)")) == "Transpose Transpose MatMul");
}

TEST_CASE("products that others read, that repeat an operand, or that gain nothing stay") {
  CHECK(declined(merge_layouts_of_matmul, fixed(scores(kJoined,
                                                       "r = Reshape (p, s4)  s = Reshape (p, s4)  "
                                                       "y = Add (r, s)")))
            .empty());
  CHECK(declined(merge_layouts_of_matmul,
                 scores("q = Transpose <perm = [0, 2, 1, 3]> (x)  k = Transpose <perm = [0, 2, 3, 1]> (z)",
                        "n = Neg (p)  y = Transpose <perm = [0, 1, 2, 3]> (n)"))
            .empty());
  CHECK(declined(merge_layouts_of_matmul,
                 "g (double[B,S,4] x, double[4,T] z) => (double[B,T,S] y) { p = MatMul (x, z)  y = Transpose <perm = "
                 "[0, 2, 1]> (p) }")
            .empty());
  CHECK(
      declined(merge_layouts_of_matmul,
               "g (double[B,2,4] x, double[1,4,3] z) => (double[B,3,2] y) { t = Transpose <perm = [0, 2, 1]> (x)  u = "
               "Transpose <perm = [0, 2, 1]> (t)  p = MatMul (u, z)  y = Transpose <perm = [0, 2, 1]> (p) }")
          .empty());
  CHECK(declined(merge_layouts_of_matmul,
                 "g (double[2,4] x, double[4,3] W) => (double[3,2] y) { t = Transpose <perm = [1, 0]> (W)  u = "
                 "Transpose <perm = [1, 0]> (t)  p = MatMul (x, W)  y = Transpose <perm = [1, 0]> (p) }")
            .empty());
}

TEST_CASE("scores of keys by queries that are scaled before they are turned are those of queries by keys") {
  const auto graph = [](const std::string& end) {
    return "g (double[B,H,S,4] x, double[B,H,T,4] z) => (double[B,H,T,S] y) <double half = {0.5}, double[1] one = "
           "{0.5}> { "
           "q = Transpose <perm = [0, 1, 3, 2]> (z)  p = MatMul (x, q)  " +
           end + " }";
  };
  CHECK(rewritten(merge_layouts_of_matmul, graph("m = Mul (half, p)  y = Transpose <perm = [0, 1, 3, 2]> (m)")) ==
        "Transpose MatMul Mul");
  CHECK(rewritten(merge_layouts_of_matmul, graph("m = Div (p, half)  y = Transpose <perm = [0, 1, 3, 2]> (m)")) ==
        "Transpose MatMul Div");
  CHECK(declined(merge_layouts_of_matmul, graph("m = Mul (p, one)  y = Transpose <perm = [0, 1, 3, 2]> (m)")).empty());
  CHECK(declined(merge_layouts_of_matmul, R"(g (double[S,3,4] x, double[S,4,T] z) => (double[3,S,T] y)
    <double half = {0.5}> { p = MatMul (x, z)  m = Mul (half, p)  y = Transpose <perm = [1, 0, 2]> (m) })") ==
        "it moves other axes than the last two");
}
