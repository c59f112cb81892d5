#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"
#include "tests/support/steps.h"

using namespace mlopt;
using graphopt::fuse_rnn;
using test::declined;
using test::rewritten;

namespace {

/// A layer of 3 units over x [T,B,2], whose last state is y and whose states are z.
std::string loop(const std::string& cell, const std::string& trips = "T", const std::string& initial = "B") {
  return "g (double[T,B,2] x, double[" + initial +
         ",3] s, double[2,3] W, double[3,3] R, double[3] C) => (double[P,3] y, double[Q,P,3] z) <bool yes = {1}, "
         "int64[1] first = {0}, int64[1] second = {1}> { sizes = Shape (x)  one = Slice (sizes, " +
         (trips == "T" ? "first, second" : "second, two") +
         ")  n = Squeeze (one, first)  y, z = Loop (n, , s) <body = b (int64 i, bool c, double[D,3] h) => (bool yes, "
         "double[D,3] o, double[D,3] o) { r = Gather (x, i)  " +
         cell + " }> }";
}

const std::string kCell = "p = MatMul (r, W)  a = Add (p, C)  q = MatMul (h, R)  t = Add (a, q)  o = Tanh (t)";

}  // namespace

TEST_CASE("a simple recurrent cell over a sequence is RNN") {
  CHECK(rewritten(fuse_rnn, loop(kCell)) == "Unsqueeze RNN Squeeze Squeeze");
  CHECK(rewritten(fuse_rnn, loop("p = Gemm (r, W, C)  q = MatMul (h, R)  t = Add (q, p)  o = Relu (t)")) ==
        "Unsqueeze RNN Squeeze Squeeze");
  CHECK(rewritten(fuse_rnn, loop("p = MatMul (r, W)  q = MatMul (h, R)  t = Add (q, p)  o = Sigmoid (t)")) ==
        "Unsqueeze RNN Squeeze Squeeze");
}

TEST_CASE("other cells stay Loops") {
  for (const char* cell : {"p = MatMul (r, W)  o = Tanh (p)", "q = MatMul (h, R)  o = Tanh (q)",
                           "p = MatMul (r, W)  q = MatMul (h, R)  t = Add (p, q)  o = Softsign (t)",
                           "p = MatMul (r, W)  q = MatMul (h, R)  t = Sub (p, q)  o = Tanh (t)",
                           "p = MatMul (r, W)  k = Mul (h, h)  q = MatMul (k, R)  t = Add (p, q)  o = Tanh (t)",
                           "p = MatMul (r, W)  q = Gemm <alpha = 0.5> (h, R)  t = Add (p, q)  o = Tanh (t)"})
    CHECK(declined(fuse_rnn, loop(cell)) == "its cell is another one");
}

TEST_CASE("steps that are written out are RNN where that is faster") {
  test::Steps steps = test::rnn_steps();
  CHECK(rewritten(fuse_rnn, steps.graph()) == "Transpose Unsqueeze RNN Squeeze Identity");
  steps.inputs = "double[N,8,2] x, double[N,3] s", steps.outputs = "double[N,3] y";
  CHECK(declined(fuse_rnn, steps.graph()) ==
        "RNN is faster for long sequences of a batch of one only, which --fix can say");
  CHECK(rewritten(fuse_rnn, steps.graph(), 21, 1e-12, Target::kKernels) == "Transpose Unsqueeze RNN Squeeze Identity");
}

TEST_CASE("states that keep an axis in front, as PyTorch's exporter leaves them") {
  test::Steps steps = test::rnn_steps();
  steps.inputs = "double[1,8,2] x, double[1,1,3] s", steps.outputs = "double[8,1,3] y";
  steps.end = "y = Concat <axis = 0> (h0, h1, h2, h3, h4, h5, h6, h7)";
  CHECK(rewritten(fuse_rnn, steps.graph()) ==
        "Transpose RNN Squeeze Slice Slice Slice Slice Slice Slice Slice Slice Concat");
}
