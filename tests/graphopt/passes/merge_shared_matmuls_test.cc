#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::merge_shared_matmuls;
using test::declined;
using test::rewritten;

namespace {

/// Three products of x, and what is made of them.
std::string graph(const std::string& constants, const std::string& nodes) {
  return "g (double[N,5,3] x, " + constants + ") => (double[N,5,3] p, double[N,5,2] q, double[N,5,4] r) { " + nodes +
         " }";
}

const std::string kMatrices = "double[3,3] A, double[3,2] B, double[3,4] C";
const std::string kProducts = "a = MatMul (x, A)  b = MatMul (x, B)  c = MatMul (x, C)  ";
const std::string kEnd = "p = Relu (a)  q = Neg (b)  r = Abs (c)";

}  // namespace

TEST_CASE("products of one value by constant matrices become one") {
  CHECK(rewritten(merge_shared_matmuls, graph(kMatrices, kProducts + kEnd)) == "MatMul Split Relu Neg Abs");
  CHECK(rewritten(merge_shared_matmuls, graph(kMatrices, kProducts + kEnd), 11) == "MatMul Split Relu Neg Abs");
}

TEST_CASE("rows that are added to every product are added to the one") {
  const std::string rows = kMatrices + ", double[3] D, double[2] E, double[4] F";
  CHECK(rewritten(merge_shared_matmuls, graph(rows, kProducts + "d = Add (a, D)  e = Add (E, b)  f = Add (c, F)  "
                                                                "p = Relu (d)  q = Neg (e)  r = Abs (f)")) ==
        "MatMul Add Split Relu Neg Abs");
  // Keys without a bias, as Whisper has them: the rows stay where they are.
  CHECK(rewritten(merge_shared_matmuls, graph(rows, kProducts + "d = Add (a, D)  f = Add (c, F)  "
                                                                "p = Relu (d)  q = Neg (b)  r = Abs (f)")) ==
        "MatMul Split Add Add Relu Neg Abs");
}

TEST_CASE("halves of floats are joined as they are stored") {
  CHECK(rewritten(merge_shared_matmuls,
                  "g (float16[N,2,3] x, float16[3,3] A, float16[3,2] B) => (float16[N,2,3] p, float16[N,2,2] q) "
                  "{ a = MatMul (x, A)  b = MatMul (x, B)  p = Relu (a)  q = Neg (b) }",
                  21, 1e-2) == "MatMul Split Relu Neg");
}

TEST_CASE("a matrix that another node reads is left out, for the file would grow") {
  CHECK(
      rewritten(merge_shared_matmuls,
                "g (double[N,2,3] x, double[3,3] A, double[3,3] B, double[3,3] C) => (double[N,2,3] y) "
                "{ a = MatMul (x, A)  b = MatMul (x, B)  c = MatMul (x, C)  e = Sum (a, b, c)  y = MatMul (e, B) }") ==
      "MatMul Split MatMul Sum MatMul");
}

TEST_CASE("products in a body are not joined with those around it") {
  CHECK(declined(merge_shared_matmuls, R"(g (bool[] t, double[N,3] x, double[3,3] A, double[3,3] B) => (double[N,3] y)
    { a = MatMul (x, A)  b = If (t) <then_branch = then () => (double[N,3] c) { c = MatMul (x, B) },
      else_branch = other () => (double[N,3] d) { d = Neg (x) }>  y = Add (a, b) })")
            .empty());
}

TEST_CASE("products stay that are outputs, of other values, by shared or computed matrices, or alone") {
  const auto stays = [](const std::string& text) { CHECK(declined(merge_shared_matmuls, text).empty()); };
  stays(
      "g (double[N,3] x, double[3,3] A, double[3,2] B) => (double[N,3] p, double[N,2] q) "
      "{ p = MatMul (x, A)  b = MatMul (x, B)  q = Neg (b) }");
  stays(
      "g (double[N,3] x, double[N,3] z, double[3,3] A, double[3,2] B) => (double[N,3] p, double[N,2] q) "
      "{ a = MatMul (x, A)  b = MatMul (z, B)  p = Relu (a)  q = Neg (b) }");
  stays(
      "g (double[N,3] x, double[3,2] z, double[3,3] A) => (double[N,3] p, double[N,2] q) "
      "{ a = MatMul (x, A)  b = MatMul (x, z)  p = Relu (a)  q = Neg (b) }");
  stays(
      "g (double[N,3] x, double[3,3] A) => (double[N,3] p, double[N,3] q) "
      "{ a = MatMul (x, A)  b = MatMul (x, A)  p = Relu (a)  q = Neg (b) }");
  stays(
      "g (double[N,3] x, double[3,3] A, double[3,2] B) => (double[N,2] q) "
      "{ \"\" = MatMul (x, A)  b = MatMul (x, B)  q = Neg (b) }");
  // x on the other side, and matrices in batches.
  stays(
      "g (double[3,3] x, double[3,3] A, double[3,2] B) => (double[3,3] p, double[3,2] q) "
      "{ a = MatMul (A, x)  b = MatMul (x, B)  p = Relu (a)  q = Neg (b) }");
  stays(
      "g (double[2,N,3] x, double[2,3,3] A, double[2,3,2] B) => (double[2,N,3] p, double[2,N,2] q) "
      "{ a = MatMul (x, A)  b = MatMul (x, B)  p = Relu (a)  q = Neg (b) }");
}
