#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// How queries and keys are turned.
struct Turns {
  std::string queries = "T, T", keys = "T, T";
  std::string queries_interleaved = "0", keys_interleaved = "0";
};

/// What causal attention of two heads of `size` elements becomes, of which so many are turned, by T, its cosines c and
/// d, or its sines g.
std::string fused(int size, int turned, const Turns& turns = {}) {
  const std::string d = std::to_string(size), w = std::to_string(2 * size), half = std::to_string(turned / 2);
  const auto rope = [&](const std::string& x, const std::string& tables, const std::string& interleaved) {
    return "com.microsoft.RotaryEmbedding <num_heads = 2, rotary_embedding_dim = " + std::to_string(turned) +
           ", interleaved = " + interleaved + "> (" + x + ", start, " + tables + ")";
  };
  std::string table;
  for (int i = 0; i < 16 * turned / 2; ++i) table += (i ? ", 0." : "0.") + std::to_string(i % 9 + 1);
  const std::string weights = "float[" + w + "," + w + "] ";
  Model model = test::fixture(
      "g (float[B,N," + w + "] x, " + weights + "Q, " + weights + "K, " + weights + "V) => (float[B,N," + w +
          "] y) <int64[4] split = {0, 0, 2, " + d + "}, int64[3] joint = {0, 0, " + w + "}, float[16," + half +
          "] T = {" + table +
          "}, int64[1] start = {0}, float zero = {0}, float hide = {-inf}, int64 i0 = {0}, int64 "
          "i1 = {1}, int64[1] l0 = {0}, int64[1] l1 = {1}> { q3 = MatMul (x, Q)  k3 = MatMul (x, K)  v3 = MatMul (x, V)"
          "  q4 = Reshape (q3, split)  k4 = Reshape (k3, split)  v4 = Reshape (v3, split)  qt = Transpose <perm = [0, "
          "2, 1, 3]> (q4)  kt = Transpose <perm = [0, 2, 1, 3]> (k4)  v = Transpose <perm = [0, 2, 1, 3]> (v4)  "
          "c = Cos (T)  d = Cos (T)  g = Sin (T)  q = " +
          rope("qt", turns.queries, turns.queries_interleaved) +
          "  kr = " + rope("kt", turns.keys, turns.keys_interleaved) +
          "  k = Transpose <perm = [0, 1, 3, 2]> (kr)  sh = Shape (x)  n = Gather (sh, i1)  r = Range "
          "(i0, n, i1)  cols = Unsqueeze (r, l0)  down = Unsqueeze (r, l1)  f = LessOrEqual (cols, down)  e = Where "
          "(f, "
          "zero, hide)  p = MatMul (q, k)  s = Add (p, e)  w = Softmax <axis = -1> (s)  o = MatMul (w, v)  t = "
          "Transpose <perm = [0, 2, 1, 3]> (o)  y = Reshape (t, joint) }",
      17);
  model.set_opset("com.microsoft", 1);
  return test::rewritten(fusion::fuse_attention, model, 1e-4, Target::kOrt);
}

}  // namespace

TEST_CASE("queries and keys are turned by the operator where ONNX Runtime has that") {
  CHECK(fused(16, 16).ends_with(" MatMul GroupQueryAttention"));
  CHECK(fused(32, 16).ends_with(" MatMul GroupQueryAttention"));
}

TEST_CASE("queries and keys are turned alike, by whatever makes the same numbers of the same") {
  const auto turned = [](const Turns& turns) {
    return fused(16, 16, turns).find("RotaryEmbedding") == std::string::npos;
  };
  CHECK(turned({"c, g", "d, g"}));
  CHECK(turned({"T, T", "T, T", "1", "1"}));
  CHECK_FALSE(turned({"c, g", "g, g"}));
  CHECK_FALSE(turned({"c, g", "c, c"}));
  CHECK_FALSE(turned({"T, T", "T, T", "1", "0"}));
}

TEST_CASE("heads and parts of other sizes are turned before") {
  for (const auto& [size, turned] : {std::pair{24, 16}, {32, 8}, {48, 24}}) {
    INFO(turned << " of " << size);
    CHECK(fused(size, turned).find("RotaryEmbedding") != std::string::npos);
  }
}

namespace {

/// Causal attention of four heads of queries with two of keys and values, whose scores p `scores` makes s of; key and
/// query are the places of both.
std::string masked(const std::string& scores) {
  return "g (float[B,N,32] x, float[32,32] Q, float[32,16] K, float[32,16] V) => (float[B,N,32] y) <int64[4] four = "
         "{0, "
         "0, 4, 8}, int64[4] two = {0, 0, 2, 8}, int64[4] all = {0, 4, -1, 8}, int64[1] l2 = {2}, int64[5] twice = {1, "
         "1, "
         "2, 1, 1}, int64[3] joint = {0, 0, 32}, float zero = {0}, float hide = {-inf}, float low = {-3.0e38}, bool t "
         "= "
         "{1}, int64 i0 = {0}, int64 i1 = {1}, int64 i3 = {3}, int64[1] l0 = {0}, int64[1] l1 = {1}> { q3 = MatMul (x, "
         "Q)"
         "  k3 = MatMul (x, K)  v3 = MatMul (x, V)  q4 = Reshape (q3, four)  k4 = Reshape (k3, two)  v4 = Reshape (v3, "
         "two)  q = Transpose <perm = [0, 2, 1, 3]> (q4)  kt = Transpose <perm = [0, 2, 1, 3]> (k4)  vt = Transpose "
         "<perm = [0, 2, 1, 3]> (v4)  ku = Unsqueeze (kt, l2)  ke = Expand (ku, twice)  kr = Reshape (ke, all)  vu = "
         "Unsqueeze (vt, l2)  ve = Expand (vu, twice)  v = Reshape (ve, all)  k = Transpose <perm = [0, 1, 3, 2]> (kr) "
         " "
         "p = MatMul (q, k)  sh = Shape (x)  n = Gather (sh, i1)  r = Range (i0, n, i1)  key = Unsqueeze (r, l0)  "
         "query "
         "= Unsqueeze (r, l1)  order = LessOrEqual (key, query)  first = Sub (query, i3)  " +
         scores +
         "  w = Softmax <axis = -1> (s)  o = MatMul (w, v)  u = Transpose <perm = [0, 2, 1, 3]> (o)  y = Reshape (u, "
         "joint) }";
}

/// The window of the operator; 0 where it has none, or there is no such operator.
int64_t window(const std::string& scores) {
  Model model = test::fixture(masked(scores), 17);
  model.set_opset("com.microsoft", 1);
  infer(model);
  PassContext context = test::pass_context();
  context.target = Target::kOrt;
  run_pass(model, fusion::fuse_attention, context);
  for (const Node* node : model.graph->nodes())
    if (const Attr* size = node->attr("local_window_size")) return std::get<int64_t>(size->value);
  return 0;
}

}  // namespace

TEST_CASE("keys that are hidden so far before a query are the operator's window") {
  const std::string near = "near = Greater (key, first)  ", both = "f = And (near, order)  ";
  const std::string added = "e = Where (f, zero, hide)  s = Add (p, e)", chosen = "s = Where (f, p, hide)";
  for (const std::string& hides : {added, chosen}) {
    CHECK(test::rewritten(fusion::fuse_attention, masked(near + both + hides), 17, 1e-4, Target::kOrt)
              .ends_with(" MatMul GroupQueryAttention"));
    CHECK(window(near + both + hides) == 3);
    CHECK(window("near = GreaterOrEqual (key, first)  " + both + hides) == 4);
    CHECK(window("near = Less (first, key)  " + both + hides) == 3);
    CHECK(window(near + "g = And (t, near)  f = And (order, g)  " + hides) == 3);
  }
}

TEST_CASE("other bounds are no window") {
  const std::string added = "  e = Where (f, zero, low)  s = Add (p, e)", both = "  f = And (near, order)";
  CHECK(window("near = Less (key, first)" + both + added) == 0);
  CHECK(window("near = Greater (query, first)" + both + added) == 0);
  CHECK(window("near = Greater (key, first)  f = Or (near, order)" + added) == 0);
  CHECK(window("f = Greater (key, first)" + added) == 0);
  CHECK(window("after = Add (query, i1)  near = Greater (key, after)" + both + added) == 0);
}

TEST_CASE("rows that a second mask leaves no key still see later ones, which the operator hides for good") {
  CHECK(test::rewritten(fusion::fuse_attention,
                        masked("near = Greater (key, i3)  far = Where (near, zero, low)  e = Where (order, zero, low)  "
                               "m = Add (e, far)  s = Add (p, m)"),
                        17, 1e-4, Target::kOrt)
            .find("GroupQueryAttention") == std::string::npos);
}
