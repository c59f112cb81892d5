#include "prune/structure/tidy.h"

#include "prune/structure/groups.h"
#include "prune/structure/propagate.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"
#include "tests/support/steps.h"

using namespace mlopt;

namespace {

Model tidied(const std::string& graph) {
  const Model source = test::fixture(graph, 18);
  std::vector<std::string> warnings;
  Model model = prune::tidied(source, test::pass_context(), warnings);
  CHECK(warnings.empty());
  test::require_same_model(source, model, 1e-6);
  return model;
}

/// Three heads of size 4, whose keys are turned in three axes, as PyTorch exports them where the batch is free.
constexpr const char* kTurned =
    R"(g (float[N,S,8] x, float[8,12] Q, float[8,12] K, float[8,12] V, float[12,8] O) => (float[N,S,8] y)
    <int64[4] parted = {0, 0, 3, 4}, int64[3] joined = {0, 0, 12}, int64[1] rest = {-1}, int64[1] heads = {3},
     int64[1] size = {4}> {
  batch = Shape <start = 0, end = 1> (x)
  rows = Shape <start = 1, end = 2> (x)
  q0 = MatMul (x, Q)
  q1 = Reshape (q0, parted)
  q = Transpose <perm = [0, 2, 1, 3]> (q1)
  k0 = MatMul (x, K)
  k1 = Reshape (k0, parted)
  k2 = Transpose <perm = [0, 2, 1, 3]> (k1)
  three = Concat <axis = 0> (rest, rows, size)
  k3 = Reshape (k2, three)
  k4 = Transpose <perm = [0, 2, 1]> (k3)
  four = Concat <axis = 0> (batch, heads, size, rows)
  k = Reshape (k4, four)
  v0 = MatMul (x, V)
  v1 = Reshape (v0, parted)
  v = Transpose <perm = [0, 2, 1, 3]> (v1)
  s0 = MatMul (q, k)
  s = Softmax <axis = -1> (s0)
  c0 = MatMul (s, v)
  c1 = Transpose <perm = [0, 2, 1, 3]> (c0)
  c = Reshape (c1, joined)
  y = MatMul (c, O)
})";

}  // namespace

TEST_CASE("batch and heads that are one axis for a while stay two, so that heads can go") {
  const Model model = tidied(kTurned);
  CHECK(test::operators(*model.graph) ==
        "MatMul Reshape Transpose MatMul Transpose Reshape MatMul Reshape Transpose MatMul Softmax MatMul Transpose "
        "Reshape MatMul");
  const prune::Groups groups = prune::find_groups(prune::relate_axes(model, prune::SplitBy::kOuter));
  CHECK(groups.groups.size() == 1);
  CHECK(groups.groups[0].heads);
}

TEST_CASE("layers stay as they are, and shapes that are computed are constant") {
  const Model model = tidied(R"(g (float[N,4,6] x, float[6,6] W) => (float[N,24] y)
      <int64[1] rest = {-1}, int64[1] four = {4}, int64[1] six = {6}> {
    a = MatMul (x, W)
    b = Relu (a)
    width = Mul (four, six)
    shape = Concat <axis = 0> (rest, width)
    c = Identity (b)
    y = Reshape (c, shape)
  })");
  CHECK(test::operators(*model.graph) == "MatMul Relu Reshape");
}

TEST_CASE("initial states of zeros go, which are of all units and of none") {
  const Model model = tidied(R"(g (float[T,N,2] x, float[1,16,2] W, float[1,16,4] R) => (float[T,1,N,4] y)
    <int64[1] one = {1}, int64[1] units = {4}, float zero = {0}> {
      batch = Shape <start = 1, end = 2> (x)  shape = Concat <axis = 0> (one, batch, units)  s = Expand (zero, shape)
      y = LSTM <hidden_size = 4> (x, W, R, , , s, s) })");
  CHECK(test::operators(*model.graph) == "LSTM");
}

TEST_CASE("steps that are written out become the layer whose units can go") {
  test::Steps steps = test::lstm_steps();
  steps.outputs = "double[4,N,3] y";
  steps.end =
      "u0 = Unsqueeze (h0, front)  u1 = Unsqueeze (h1, front)  u2 = Unsqueeze (h2, front)  u3 = Unsqueeze (h3, front)  "
      "y "
      "= Concat <axis = 0> (u0, u1, u2, u3)";
  const Model model = tidied(steps.graph());
  CHECK(test::operators(*model.graph) == "Transpose Unsqueeze Unsqueeze LSTM Squeeze");
}
