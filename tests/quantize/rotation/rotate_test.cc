#include "quantize/rotation/rotate.h"

#include <string>

#include "core/onnx/infer.h"
#include "quantize/rotation/stream.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using namespace mlopt::quantize;

namespace {

/// A model whose types are known and whose constants are random.
Model prepared(const std::string& text, int opset = 17) {
  Model model = test::fixture(text, opset);
  uint64_t seed = 30;
  for (Value* v : model.graph->initializers())
    if (v->constant->dtype() == DType::kF32)
      v->constant = test::uniform(v->constant->dims(), 0.2, 1, DType::kF32, ++seed);
  infer(model, standard_types);
  return model;
}

RotatedStreams rotated(const std::string& text, int opset = 17) {
  const Model source = prepared(text, opset);
  Model model = clone(source);
  const RotatedStreams done = rotate_streams(model);
  test::require_same_model(source, model, done.streams ? 1e-4 : 0);
  return done;
}

constexpr const char* kBlock = R"(
  g (int64[N,5] ids, float[7,8] E, float[5,8] P, float[8] G, float[8] B, float[8,6] W, float[6] A, float[6,8] V, float[8] C,
     float[8] S, float[8,7] H) => (float[N,5,7] y) {
    e = Gather (E, ids)
    x = Add (e, P)
    n = LayerNormalization (x, G, B)
    m = MatMul (n, W)
    a = Add (m, A)
    t = Tanh (a)
    v = MatMul (t, V)
    c = Add (C, v)
    r = Add (x, c)
    o = LayerNormalization (r, S)
    y = MatMul (o, H)
  })";

}  // namespace

TEST_CASE("a residual stream is rotated within tables, layers and normalizations, and the model computes what it did") {
  const RotatedStreams done = rotated(kBlock);
  CHECK(done.streams == 1);
  CHECK(done.problems.empty());
}

TEST_CASE("normalizations without means, Gemms either way round, and what moves places are rotated") {
  const RotatedStreams done = rotated(R"(
    g (float[6,10] x, float[10,12] W, float[12] A, float[12] G, float[12,12] V, float[9,12] H, float[9] D) => (float[6,9] y) {
      a = Gemm (x, W, A)
      i = Identity (a)
      n = RMSNormalization <axis = -1, epsilon = 0.0001> (i, G)
      v = Gemm <transB = 1, alpha = 0.5> (n, V)
      half = Constant <value_float = 0.5> ()
      h = Mul (half, v)
      r = Add (h, i)
      y = Gemm <transB = 1> (r, H, D)
    })",
                                      23);
  CHECK(done.streams == 1);
}

TEST_CASE(
    "what a layer that is no product reads, inputs, outputs and features of other kinds are left, with the reason") {
  struct Case {
    const char *text, *reason;
  };
  for (const Case& c : {
           Case{R"(g (float[N,8] x, float[8] G, float[8,4] W) => (float[N,4] y) {
                  n = LayerNormalization (x, G)
                  y = MatMul (n, W)
                })",
                "is an input of the model"},
           Case{R"(g (float[N,3] x, float[3,8] V, float[8] G, float[8,4] W) => (float[N,4] y, float[N,8] a) {
                  a = MatMul (x, V)
                  n = LayerNormalization (a, G)
                  y = MatMul (n, W)
                })",
                "is an output of the model"},
           Case{R"(g (float[N,3] x, float[3,8] V, float[8] G, float[8,4] W) => (float[N,4] y) {
                  v = MatMul (x, V)
                  a = Relu (v)
                  n = LayerNormalization (a, G)
                  y = MatMul (n, W)
                })",
                "does more than add to it"},
           Case{R"(g (float[N,3] x, float[3,8] V, float[8] G) => (float[N,8] y) {
                  a = MatMul (x, V)
                  n = LayerNormalization (a, G)
                  y = Relu (n)
                })",
                "reads single features behind"},
           Case{R"(g (float[N,3] x, float[3,8] V, float[8] G, float[8] S, float[8,4] W) => (float[N,4] y) {
                  a = MatMul (x, V)
                  n = LayerNormalization (a, G)
                  b = Add (n, n)
                  o = LayerNormalization (b, S)
                  y = MatMul (o, W)
                })",
                "reads single features behind"},
           Case{"g (float[N,8] x, float[8,4] W) => (float[N,4] y) { y = MatMul (x, W) }", "no normalization"},
       }) {
    INFO(c.text);
    const RotatedStreams done = rotated(c.text);
    CHECK(done.streams == 0);
    REQUIRE_FALSE(done.problems.empty());
    CHECK(test::contains(done.problems[0], c.reason));
  }
}

TEST_CASE("normalizations that are spelled out are found by the scale that ends them") {
  const RotatedStreams done = rotated(R"(
    g (int64[N,5] ids, float[9,12] E, float[12] G, float[12,12] V, float[12] S, float[12,7] H) => (float[N,5,7] y) {
      e = Gather (E, ids)
      two = Constant <value_float = 2.0> ()
      small = Constant <value_float = 0.001> ()
      one = Constant <value_float = 1.0> ()
      last = Constant <value_ints = [2]> ()
      p = Pow (e, two)
      m = ReduceMean <axes = [-1]> (p)
      a = Add (m, small)
      q = Sqrt (a)
      d = Div (one, q)
      n = Mul (e, d)
      w = Mul (n, G)
      v = MatMul (w, V)
      r = Add (e, v)
      mean = ReduceMean <axes = [2]> (r)
      c = Sub (r, mean)
      z = Mul (c, c)
      u = ReduceSum <keepdims = 1> (z, last)
      k = Sqrt (u)
      l = Div (c, k)
      x = Mul (S, l)
      y = MatMul (x, H)
    })");
  CHECK(done.streams == 1);
}

TEST_CASE("a normalization that adds where it scales by nothing is left") {
  Model model = prepared(kBlock);
  Tensor& scale = *model.graph->find("G")->constant;
  scale.mutable_data<float>()[3] = 0;
  const RotatedStreams done = rotate_streams(model);
  CHECK(done.streams == 0);
  CHECK(test::contains(done.problems.at(0), "adds where it scales by nothing"));
}
