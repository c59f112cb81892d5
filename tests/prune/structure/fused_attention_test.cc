#include <cmath>

#include "core/ir/infer.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"
#include "tests/support/shrunk.h"

using namespace mlopt;
using prune::SplitBy;
using test::Shrunk;

namespace {

Shrunk shrink(const std::string& graph, int64_t opset = 23) { return test::shrink(graph, opset, SplitBy::kOuter); }

int64_t attribute(const Shrunk& made, const char* op, const char* name) {
  for (const Node* node : made.model.graph->nodes())
    if (node->op == op) return std::get<int64_t>(node->attr(name)->value);
  return -1;
}

}  // namespace

TEST_CASE("attention of one operator loses whole heads, and those that share keys go with them") {
  const Shrunk made = shrink(R"(g (float[N,S,8] x, float[8,24] Q, float[8,12] K, float[8,8] V, float[16,8] O)
        => (float[N,S,8] y) {
      q = MatMul (x, Q)
      k = MatMul (x, K)
      v = MatMul (x, V)
      c = Attention <q_num_heads = 8, kv_num_heads = 4> (q, k, v)
      y = MatMul (c, O)
    })");
  REQUIRE(made.groups.groups.size() == 1);
  CHECK(made.groups.groups[0].heads);
  CHECK(made.shapes("QKVO") == "Q 8x12, K 8x6, V 8x4, O 8x8");
  CHECK(attribute(made, "Attention", "q_num_heads") == 4);
  CHECK(attribute(made, "Attention", "kv_num_heads") == 2);
}

TEST_CASE("attention whose heads have an axis of their own loses heads, or dimensions at the same scale") {
  const std::string graph = R"(g (float[N,S,8] x, float[8,12] Q, float[8,12] K, float[8,12] V, float[12,8] O)
        => (float[N,S,8] y) {
      shape = Constant <value = int64[4] {0, 0, 2, 6}> ()
      back = Constant <value = int64[3] {0, 0, 12}> ()
      q0 = MatMul (x, Q)
      q1 = Reshape (q0, shape)
      q = Transpose <perm = [0, 2, 1, 3]> (q1)
      k0 = MatMul (x, K)
      k1 = Reshape (k0, shape)
      k = Transpose <perm = [0, 2, 1, 3]> (k1)
      v0 = MatMul (x, V)
      v1 = Reshape (v0, shape)
      v = Transpose <perm = [0, 2, 1, 3]> (v1)
      c0 = Attention (q, k, v)
      c1 = Transpose <perm = [0, 2, 1, 3]> (c0)
      c = Reshape (c1, back)
      y = MatMul (c, O)
    })";
  CHECK(shrink(graph).shapes("QKVO") == "Q 8x6, K 8x6, V 8x6, O 6x8");
  const Shrunk inner = test::shrink(graph, 23, SplitBy::kInner);
  CHECK(inner.shapes("QKVO") == "Q 8x6, K 8x6, V 8x6, O 6x8");
  CHECK(inner.model.graph->find("c0")->producer->attr("scale"));
}

TEST_CASE("MultiHeadAttention loses heads with their part of its bias") {
  const Shrunk made =
      shrink(R"(g (float[N,S,8] x, float[8,12] Q, float[8,12] K, float[8,8] V, float[32] B, float[8,8] O)
        => (float[N,S,8] y) {
      q = MatMul (x, Q)
      k = MatMul (x, K)
      v = MatMul (x, V)
      c = com.microsoft.MultiHeadAttention <num_heads = 4> (q, k, v, B)
      y = MatMul (c, O)
    })");
  CHECK(made.shapes("QKVBO") == "Q 8x6, K 8x6, V 8x4, B 16, O 4x8");
  CHECK(attribute(made, "MultiHeadAttention", "num_heads") == 2);
}

TEST_CASE("Attention with its projections inside loses heads of all three") {
  const Shrunk made = shrink(R"(g (float[N,S,8] x, float[8,36] W, float[36] B, float[12,8] O) => (float[N,S,8] y) {
      c = com.microsoft.Attention <num_heads = 4> (x, W, B)
      y = MatMul (c, O)
    })");
  CHECK(made.shapes("WBO") == "W 8x18, B 18, O 6x8");
  CHECK(attribute(made, "Attention", "num_heads") == 2);
  const Shrunk uneven = shrink(R"(g (float[N,S,8] x, float[8,32] W, float[32] B, float[8,8] O) => (float[N,S,8] y) {
      c = com.microsoft.Attention <num_heads = 4, qkv_hidden_sizes = [12, 12, 8]> (x, W, B)
      y = MatMul (c, O)
    })");
  CHECK(uneven.shapes("WBO") == "W 8x16, B 16, O 4x8");
}

TEST_CASE("GroupQueryAttention loses groups, behind rotary embeddings of its own or others") {
  const Shrunk made = shrink(R"(g (float[1,3,8] x, int32[1] lengths, float[8,16] Q, float[8,8] K, float[8,8] V,
        float[5,2] C, float[5,2] D, float[16,8] O) => (float[1,3,8] y) {
      total = Constant <value = int32 {3}> ()
      places = Constant <value = int64[1,3] {0, 1, 2}> ()
      last = Constant <value = int32[1] {2}> ()
      q0 = MatMul (x, Q)
      q = com.microsoft.RotaryEmbedding <num_heads = 4> (q0, places, C, D)
      k0 = MatMul (x, K)
      k = com.microsoft.RotaryEmbedding <num_heads = 2> (k0, places, C, D)
      v = MatMul (x, V)
      c = com.microsoft.GroupQueryAttention <num_heads = 4, kv_num_heads = 2> (q, k, v, , , last, total)
      y = MatMul (c, O)
    })");
  CHECK(made.shapes("QKVOC") == "Q 8x8, K 8x4, V 8x4, O 8x8, C 5x2");
  CHECK(attribute(made, "GroupQueryAttention", "kv_num_heads") == 1);
  CHECK(attribute(made, "RotaryEmbedding", "num_heads") > 0);
}

TEST_CASE("heads side by side lose the same dimensions, those of values others, at the same scale") {
  const auto inner = [](const std::string& weights, const std::string& nodes, const char* names) {
    const Shrunk made = test::shrink("g (float[N,S,8] x, float[8,12] Q, float[8,12] K, float[8,8] V, float[8,8] O" +
                                         weights + ") => (float[N,S,8] y) { q = MatMul (x, Q) k = MatMul (x, K) " +
                                         "v = MatMul (x, V) " + nodes + " y = MatMul (c, O) }",
                                     23, SplitBy::kInner);
    CHECK(made.groups.groups.size() == 2);
    const Node* attention = made.model.graph->find("c")->producer;
    CHECK(std::get<float>(attention->attr("scale")->value) == Approx(1 / std::sqrt(6.0)));
    return made.shapes(names);
  };
  CHECK(inner("", "c = Attention <q_num_heads = 2, kv_num_heads = 2> (q, k, v)", "QKVO") ==
        "Q 8x6, K 8x6, V 8x4, O 4x8");
  CHECK(inner("", "c = com.microsoft.MultiHeadAttention <num_heads = 2> (q, k, v)", "QKVO") ==
        "Q 8x6, K 8x6, V 8x4, O 4x8");
  CHECK(inner(", float[32] B", "c = com.microsoft.MultiHeadAttention <num_heads = 2> (q, k, v, B)", "QKVBO") ==
        "Q 8x6, K 8x6, V 8x4, B 16, O 4x8");
  CHECK(inner(", float[1,2,3,3] M",
              "n = Identity (x) c = com.microsoft.MultiHeadAttention <num_heads = 2> (q, k, v, , , M)",
              "QKVMO") == "Q 8x6, K 8x6, V 8x4, M 1x2x3x3, O 4x8");
}

TEST_CASE("values that ONNX Runtime takes in the size of keys alone lose as many dimensions") {
  const Shrunk made = test::shrink(R"(g (float[N,S,8] x, float[8,12] Q, float[8,12] K, float[8,12] V, float[12,8] O)
        => (float[N,S,8] y) {
      shape = Constant <value = int64[4] {0, 0, 2, 6}> ()
      q = MatMul (x, Q)
      k0 = MatMul (x, K)
      k1 = Reshape (k0, shape)
      k = Transpose <perm = [0, 2, 1, 3]> (k1)
      v0 = MatMul (x, V)
      v1 = Reshape (v0, shape)
      v = Transpose <perm = [0, 2, 1, 3]> (v1)
      c = com.microsoft.MultiHeadAttention <num_heads = 2> (q, k, v)
      y = MatMul (c, O)
    })",
                                   23, SplitBy::kInner);
  CHECK(made.groups.groups.size() == 1);
  CHECK(made.shapes("QKVO") == "Q 8x6, K 8x6, V 8x6, O 6x8");
}

TEST_CASE("Attention with its projections inside loses dimensions of heads") {
  const auto inner = [](const std::string& graph) { return test::shrink(graph, 23, SplitBy::kInner); };
  const Shrunk made = inner(R"(g (float[N,S,8] x, float[8,36] W, float[36] B, float[12,8] O) => (float[N,S,8] y) {
      c = com.microsoft.Attention <num_heads = 2> (x, W, B)
      y = MatMul (c, O)
    })");
  CHECK(made.shapes("WBO") == "W 8x18, B 18, O 6x8");
  CHECK(attribute(made, "Attention", "num_heads") == 2);
  const Shrunk uneven = inner(R"(g (float[N,S,8] x, float[8,32] W, float[32] B, float[8,8] O) => (float[N,S,8] y) {
      c = com.microsoft.Attention <num_heads = 2, qkv_hidden_sizes = [12, 12, 8]> (x, W, B)
      y = MatMul (c, O)
    })");
  CHECK(uneven.shapes("WBO") == "W 8x16, B 16, O 4x8");
}

TEST_CASE("dimensions that a rotary embedding turns in pairs stay, those of values go") {
  const Shrunk made = test::shrink(R"(g (float[1,3,8] x, float[8,8] Q, float[8,8] K, float[8,8] V,
        float[5,2] C, float[5,2] D, float[8,8] O) => (float[1,3,8] y) {
      places = Constant <value = int64[1,3] {0, 1, 2}> ()
      q0 = MatMul (x, Q)
      q = com.microsoft.RotaryEmbedding <num_heads = 2> (q0, places, C, D)
      k0 = MatMul (x, K)
      k = com.microsoft.RotaryEmbedding <num_heads = 2> (k0, places, C, D)
      v = MatMul (x, V)
      c = com.microsoft.MultiHeadAttention <num_heads = 2> (q, k, v)
      y = MatMul (c, O)
    })",
                                   23, SplitBy::kInner);
  CHECK(made.shapes("QKVO") == "Q 8x8, K 8x8, V 8x4, O 4x8");
}

TEST_CASE("attention that lacks its weights keeps what it reads") {
  Model model = test::fixture(R"(g (float[N,S,8] x, float[8,6] U, float[6,8] V) => (float[N,S,8] y) {
      u = MatMul (x, U)
      h = MatMul (u, V)
      y = com.microsoft.Attention <num_heads = 2> (h)
    })");
  infer(model);
  const prune::Groups found = prune::find_groups(prune::relate_axes(model, SplitBy::kInner));
  REQUIRE(found.groups.size() == 1);
  CHECK(found.groups[0].channels.size() == 6);
}

TEST_CASE("heads that are packed in another form stay") {
  const Shrunk made = shrink(R"(g (float[N,S,8] x, float[8,36] W, float[8,6] U, float[6,8] V, float[12,8] O)
        => (float[N,S,8] y) {
      shape = Constant <value = int64[5] {0, 0, 4, 3, 3}> ()
      u = MatMul (x, U)
      h = MatMul (u, V)
      p = MatMul (h, W)
      q = Reshape (p, shape)
      c = com.microsoft.MultiHeadAttention <num_heads = 4> (q)
      y = MatMul (c, O)
    })");
  CHECK(made.shapes("WO") == "W 4x36, O 12x8");
}
