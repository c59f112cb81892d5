#include "core/exec/samples.h"

#include "core/ir/infer.h"
#include "core/onnx/infer.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// Rows of a sample in what the last node gives, of 4 samples in the first input; 0: they are not apart.
int64_t rows(const std::string& graph) {
  Model model = test::fixture(graph);
  infer(model, standard_types);
  std::vector<bool> batched{true};
  for (const Value* v : model.graph->inputs())
    if (!v->constant && v != model.graph->inputs()[0]) batched.push_back(false);
  const auto found = dims_of_samples(model, batched, 4);
  return found && !found->back().empty() ? found->back()[0] : 0;
}

}  // namespace

TEST_CASE("samples are apart where every operator works row by row") {
  CHECK(rows("g (float[4,3,8,8] x, float[5,3,3,3] W) => (float[4,5,6,6] y) { y = Conv (x, W) }") == 1);
  CHECK(rows("g (float[4,3] x, float[3] B) => (float[4,3] y) { s = Add (x, B) r = Relu (s) y = Mul (r, x) }") == 1);
  CHECK(rows("g (float[4,6] x) => (float[4,6] y) { y = Softmax <axis = -1> (x) }") == 1);
  CHECK(rows("g (float[4,2,6] x, float[6,5] W) => (float[4,2,5] y) { y = MatMul (x, W) }") == 1);
  CHECK(rows("g (float[4,2,6] x) => (float[4,2,2] y) { t = Transpose <perm = [0, 2, 1]> (x) y = MatMul (x, t) }") == 1);
  CHECK(rows("g (float[4,2,6] x) => (float[8,6] y) <int64[2] s = {-1, 6}> { y = Reshape (x, s) }") == 2);
  CHECK(rows("g (float[4,2,6] x) => (float[4,12] y) { y = Flatten (x) }") == 1);
  CHECK(rows("g (float[4,2,6] x) => (float[4,2,3] y) <int64[1] b = {1}, int64[1] e = {4}, int64[1] a = {2}> "
             "{ y = Slice (x, b, e, a) }") == 1);
  CHECK(rows("g (int64[4,3] x, float[9,5] W) => (float[4,3,5] y) { y = Gather (W, x) }") == 1);
  CHECK(rows("g (float[4,2,6] x) => (float[4,6] y) <int64[1] a = {1}> { y = ReduceMean <keepdims = 0> (x, a) }") == 1);
  CHECK(rows("g (float[4,2] x) => (float[4,4] y) { y = Concat <axis = 1> (x, x) }") == 1);
}

TEST_CASE("samples are not apart where anything is done across them") {
  CHECK(rows("g (float[4,6] x) => (float[4,6] y) { y = Softmax <axis = 0> (x) }") == 0);
  CHECK(rows("g (float[4,6] x) => (float[6,4] y) { y = Transpose (x) }") == 0);
  CHECK(rows("g (float[4,4] x) => (float[4,4] y) { y = Transpose (x) }") == 0);
  CHECK(rows("g (float[4,4] x) => (float[4,4] y) { y = MatMul (x, x) }") == 0);
  CHECK(rows("g (float[4,4] x) => (float[4,4] y) { y = Gemm <transA = 1> (x, x) }") == 0);
  CHECK(rows("g (float[4,6] x, float[4,6] B) => (float[4,6] y) { y = Add (x, B) }") == 0);
  CHECK(rows("g (float[4,6] x, float[4,1] b) => (float[4,6] y) { y = Add (x, b) }") == 0);
  CHECK(rows("g (float[4,6] x) => (float[4,6] y) { m = ReduceMean <keepdims = 1> (x) y = Sub (x, m) }") == 0);
  CHECK(rows("g (float[4,6] x) => (float[4,6] y) <int64[1] a = {0}> { m = ReduceMax (x, a) y = Sub (x, m) }") == 0);
  CHECK(rows("g (float[4,6] x) => (float[8,6] y) { y = Concat <axis = 0> (x, x) }") == 0);
  CHECK(rows("g (float[4,6] x) => (float[4,6] y) <int64[2] s = {4, -1}> { y = Reshape (x, s) }") == 0);
  CHECK(rows("g (float[4,6] x) => (uint8[4,6] y) { y, s, z = DynamicQuantizeLinear (x) }") == 0);
  CHECK(rows("g (float[4,6] x) => (float[4,6] y) <int64[1] a = {0}> { y = CumSum (x, a) }") == 0);
  const std::string norm = "> (x, S, B, M, V) }",
                    in = "g (float[4,3] x, float[3] S, float[3] B, float[3] M, float[3] V)";
  CHECK(rows(in + " => (float[4,3] y) { y = BatchNormalization <training_mode = 0" + norm) == 1);
  CHECK(rows(in + " => (float[4,3] y) { y = BatchNormalization <training_mode = 1" + norm) == 0);
  CHECK(rows("g (float[4,6] x) => (float[4,6] y) <int64[1] i = {0}> { r = Gather (x, i) y = Add (x, r) }") == 0);
}

TEST_CASE("resizing keeps samples apart where axis 0 stays as it is") {
  const std::string in = "g (float[4,1,2,2] x) => (float[4,1,4,4] y) <float[8] r = {", scales = "}, float[4] s = {",
                    resize = "> (x, r, s) }";
  CHECK(rows("g (float[4,1,2,2] x) => (float[4,1,4,4] y) <float[4] s = {1, 1, 2, 2}> { y = Resize (x, , s) }") == 1);
  // As many samples as before, but shown from other places.
  CHECK(rows("g (float[4,1,2,2] x) => (float[4,1,4,4] y) <float[4] s = {1.2, 1, 2, 2}> { y = Resize (x, , s) }") == 0);
  const std::string crop = "}> { y = Resize <coordinate_transformation_mode = \"tf_crop_and_resize\"";
  CHECK(rows(in + "0, 0, 0, 0, 1, 1, 1, 1" + scales + "1, 1, 2, 2" + crop + resize) == 1);
  CHECK(rows(in + "0, 0, 0, 0, 0.5, 1, 1, 1" + scales + "1, 1, 2, 2" + crop + resize) == 0);
}

TEST_CASE("how many samples there are may shape what follows, and nothing else") {
  const std::string shape = "s = Shape <start = 0, end = 1> (x) ";
  CHECK(rows("g (float[4,2,6] x) => (float[4,12] y) <int64[1] r = {-1}> { " + shape +
             "t = Concat <axis = 0> (s, r) y = Reshape (x, t) }") == 1);
  CHECK(rows("g (float[4,2] x, float[1,3] C) => (float[4,5] y) <int64[1] r = {3}> { " + shape +
             "t = Concat <axis = 0> (s, r) e = Expand (C, t) y = Concat <axis = 1> (x, e) }") == 1);
  CHECK(rows("g (float[4,2] x) => (float[4,2] y) { " + shape + "f = Cast <to = 1> (s) y = Mul (x, f) }") == 0);
}
