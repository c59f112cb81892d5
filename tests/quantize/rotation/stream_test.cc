#include "quantize/rotation/stream.h"

#include "core/onnx/infer.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using namespace mlopt::quantize;

namespace {

Model prepared(const char* text) {
  Model model = test::fixture(text, 17);
  infer(model, standard_types);
  return model;
}

Node* first_norm(const Model& model) {
  for (Node* node : model.graph->nodes())
    if (normalizes_features(*node, model.opset())) return node;
  return nullptr;
}

}  // namespace

TEST_CASE("a stream is followed from one normalization to all that writes and reads it") {
  const Model model = prepared(R"(g (float[N,3] x, float[3,8] U, float[8] B, float[8] G, float[8,8] V, float[8,4] W)
    => (float[N,4] y) {
      u = MatMul (x, U)
      a = Add (u, B)
      n = LayerNormalization (a, G)
      v = MatMul (n, V)
      r = Add (a, v)
      y = MatMul (r, W)
    })");
  const Stream stream = trace_stream(first_norm(model), model.opset());
  CHECK(stream.problem.empty());
  CHECK(stream.features == 8);
  CHECK(stream.norms.size() == 1);
  CHECK(stream.values.size() == 4);     // u, a, v, r
  CHECK(stream.constants.size() == 5);  // U, B, W, V on both sides
  int scaled = 0;
  for (const Turned& t : stream.constants) scaled += t.norm != nullptr;
  CHECK(scaled == 1);
}

TEST_CASE("a large weight that others read too is not stored twice") {
  const Model model = prepared(R"(g (float[N,40] x, float[40,40] V, float[40] G, float[40,4] W) => (float[N,4] y) {
      a = MatMul (x, V)
      b = Tanh (a)
      c = MatMul (b, V)
      n = LayerNormalization (c, G)
      y = MatMul (n, W)
    })");
  const Stream stream = trace_stream(first_norm(model), model.opset());
  CHECK(test::contains(stream.problem, "is read by other nodes"));
}

TEST_CASE("only a scale of the last axis scales features") {
  CHECK(first_norm(prepared(R"(g (float[2,3,4] x, float[3,4] G) => (float[2,3,4] y) {
      y = LayerNormalization <axis = 1> (x, G)
    })")) == nullptr);
  CHECK(first_norm(prepared(R"(g (float[2,3,4] x, float[4] g) => (float[2,3,4] y) {
      y = LayerNormalization (x, g)
    })")) == nullptr);
}
