#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"
#include "tests/support/steps.h"

using namespace mlopt;
using graphopt::fuse_gru;
using test::declined;
using test::gru_steps;
using test::replaced;
using test::rewritten;

namespace {

/// A layer of 3 units over x [T,B,2], whose last state is y and whose states are z; r is an entry of x, h the state.
std::string loop(const std::string& cell) {
  return "g (double[T,B,2] x, double[B,3] s, double[2,9] W, double[3,9] R, double[3,6] Gates, double[3,3] New, "
         "double[9] C, double[9] D) => (double[P,3] y, double[Q,P,3] z) <bool yes = {1}, int64[1] first = {0}, "
         "int64[1] "
         "second = {1}, double one = {1}, int64[2] from0 = {0, 0}, int64[2] from1 = {0, 3}, int64[2] from2 = {0, 6}, "
         "int64[2] to1 = {2147483647, 3}, int64[2] to2 = {2147483647, 6}, int64[2] to3 = {2147483647, 2147483647}, "
         "int64[2] axes = {0, 1}> { sizes = Shape (x)  len = Slice (sizes, first, second)  n = Squeeze (len, first)  "
         "y, z "
         "= Loop (n, , s) <body = b (int64 i, bool c, double[E,3] h) => (bool yes, double[E,3] o, double[E,3] o) { r = "
         "Gather (x, i)  p = MatMul (r, W)  a = Add (p, C)  az, ar, an = Split <axis = -1, num_outputs = 3> (a)  " +
         cell + " }> }";
}

/// As TensorFlow's does by default: the reset comes after the product.
const std::string kAfter =
    "q = MatMul (h, R)  b = Add (q, D)  bz = Slice (b, from0, to1, axes)  br = Slice (b, from1, to2, axes)  bn = Slice "
    "(b, from2, to3, axes)  gz = Add (az, bz)  zz = Sigmoid (gz)  gr = Add (ar, br)  rr = Sigmoid (gr)  ";
const std::string kNew = "k = Mul (rr, bn)  gn = Add (an, k)  nn = Tanh (gn)  ";
const std::string kNext = "rest = Sub (one, zz)  fresh = Mul (rest, nn)  old = Mul (zz, h)  o = Add (old, fresh)";

/// Before it.
const std::string kBefore =
    "q = MatMul (h, Gates)  bz = Slice (q, from0, to1, axes)  br = Slice (q, from1, to2, axes)  gz = Add (az, bz)  zz "
    "= "
    "Sigmoid (gz)  gr = Add (ar, br)  rr = Sigmoid (gr)  k = Mul (rr, h)  m = MatMul (k, New)  gn = Add (an, m)  nn = "
    "Tanh (gn)  ";

const std::string kFused = "Unsqueeze GRU Squeeze Squeeze";

}  // namespace

TEST_CASE("a gated recurrent unit is GRU, whether it resets before or after the product") {
  CHECK(rewritten(fuse_gru, loop(kAfter + kNew + kNext)) == kFused);
  CHECK(rewritten(fuse_gru, loop(kBefore + kNext)) == kFused);
}

TEST_CASE("operands in another order, and other activations") {
  CHECK(rewritten(fuse_gru, loop(kAfter + replaced(kNew, "Mul (rr, bn)", "Mul (bn, rr)") +
                                 replaced(kNext, "Add (old, fresh)", "Add (fresh, old)"))) == kFused);
  CHECK(rewritten(fuse_gru, loop(kAfter + replaced(kNew, "Tanh", "Relu") +
                                 replaced(kNext, "Mul (rest, nn)", "Mul (nn, rest)"))) == kFused);
}

TEST_CASE("what is not the cell of GRU stays a Loop") {
  const std::string no = "its cell is another one";
  CHECK(declined(fuse_gru, loop(kAfter + kNew + replaced(kNext, "Sub (one, zz)", "Sub (one, rr)"))) == no);
  CHECK(declined(fuse_gru, loop(kAfter + kNew + replaced(kNext, "Sub (one, zz)", "Sub (zz, one)"))) == no);
  CHECK(declined(fuse_gru, loop(kAfter + kNew + replaced(kNext, "Mul (zz, h)", "Mul (zz, zz)"))) == no);
  CHECK(declined(fuse_gru, loop(replaced(kAfter, "rr = Sigmoid", "rr = Tanh") + kNew + kNext)) == no);
  CHECK(declined(fuse_gru, loop(kAfter + replaced(kNew, "Add (an, k)", "Add (bn, k)") + kNext)) == no);
  CHECK(declined(fuse_gru, loop(replaced(kBefore, "Mul (rr, h)", "Mul (rr, zz)") + kNext)) == no);
  CHECK(declined(fuse_gru, loop(replaced(kAfter, "(b, from1, to2, axes)", "(b, from1, to3, axes)") + kNew + kNext)) ==
        no);
}

TEST_CASE("steps that are written out, as PyTorch or TensorFlow computes them") {
  const std::string fused = "Transpose Unsqueeze GRU Squeeze Identity";
  test::Steps steps = gru_steps();
  CHECK(rewritten(fuse_gru, steps.graph()) == fused);
  steps.cell =
      replaced(steps.cell, "d{0} = Sub ({2}, n{0})  e{0} = Mul (d{0}, z{0})  h{0} = Add (e{0}, n{0})",
               "d{0} = Sub (one, z{0})  e{0} = Mul (d{0}, n{0})  l{0} = Mul (z{0}, {2})  h{0} = Add (l{0}, e{0})");
  CHECK(rewritten(fuse_gru, steps.graph()) == fused);
}

TEST_CASE("steps of another cell stay") {
  for (const auto& [from, to] : {std::pair("Sub ({2}, n{0})", "Sub (n{0}, {2})"),
                                 {"Add (e{0}, n{0})", "Add (e{0}, z{0})"},
                                 {"Mul (d{0}, z{0})", "Mul (d{0}, d{0})"},
                                 {"Mul (qn{0}, r{0})", "Mul (qz{0}, qn{0})"}}) {
    test::Steps steps = gru_steps();
    steps.cell = replaced(steps.cell, from, to);
    CHECK(declined(fuse_gru, steps.graph()).empty());
  }
}
