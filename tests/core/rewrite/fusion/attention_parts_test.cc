#include "core/rewrite/fusion/attention_parts.h"

#include "core/ir/bind.h"
#include "core/ir/dump.h"
#include "core/onnx/infer.h"
#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

/// Attention of the rows x, which `rows` makes, whose scores d `hidden` makes s of.
std::string graph(const std::string& inputs, const std::string& rows, const std::string& hidden) {
  return "g (" + inputs +
         ", float[16,16] Q, float[16,16] K, float[16,16] V) => (float[P,L,16] y) <int64[4] split = {0, 0, 4, 4}, "
         "int64[3] "
         "joint = {0, 0, 16}, float two = {2}, float minus = {-1}, float least = {-3.0e38}, int64[1] l1 = {1}, "
         "int64[1] l3 = {3}, int64[1] l2 = {2}, int64[1] whole = {64}, int64[2] "
         "l12 = {1, 2}> { " +
         rows +
         "  q3 = MatMul (x, Q)  k3 = MatMul (x, K)  v3 = MatMul (x, V)  q4 = Reshape (q3, split)  k4 = Reshape (k3, "
         "split) "
         "v4 = Reshape (v3, split)  q = Transpose <perm = [0, 2, 1, 3]> (q4)  k = Transpose <perm = [0, 2, 3, 1]> (k4) "
         "v = Transpose <perm = [0, 2, 1, 3]> (v4)  p = MatMul (q, k)  d = Div (p, two)  " +
         hidden +
         "  w = Softmax <axis = -1> (s)  o = MatMul (w, v)  t = Transpose <perm = [0, 2, 1, 3]> (o)  j = Reshape (t, "
         "joint) "
         "y = Relu (j) }";
}

}  // namespace

TEST_CASE("scores that something is added to may be hidden by a number besides") {
  CHECK(rewritten(fusion::fuse_attention,
                  graph("float[B,N,16] x0, bool[B,N] m, float[1,4,1,N] a", "x = Neg (x0)",
                        "e = Add (d, a)  u = Unsqueeze (m, l12)  s = Where (u, e, least)"),
                  17, 1e-4, Target::kOrt) == "Neg Unsqueeze Shape Gather Concat Where Expand Attention Relu");
}

TEST_CASE("what is added beside may have a length of its own, which can only be that of the keys") {
  // The bias of ALiBi, of which the last columns are taken.
  const std::string last = "n = Shape <start = 1, end = 2> (x)  f = Sub (whole, n)  a = Slice (A, f, whole, l2) ";
  const auto text = [&](const std::string& hidden) {
    return graph("float[B,N,16] x0, bool[B,N] m, bool[1] r", "x = Neg (x0)", last + hidden)
        .replace(0, 3, "g (float[4,1,64] A, ");
  };
  CHECK(rewritten(fusion::fuse_attention, text("e = Add (d, a)  u = Unsqueeze (m, l12)  s = Where (u, e, least)"), 17,
                  1e-4, Target::kOrt)
            .ends_with("Attention Relu"));
  // It may have one column for all keys where the condition does not have them.
  CHECK(rewritten(fusion::fuse_attention, text("e = Add (d, a)  s = Where (r, e, least)"), 17, 1e-4, Target::kOrt)
            .ends_with("Expand Attention Relu"));
}

TEST_CASE("a mask for which no input has the axes is repeated as the rows say") {
  const std::string twice = "x = Concat <axis = 1> (x0, x0)";
  const std::string text =
      graph("float[B,H,16] x0, float[B,1,1,2] m0", twice,
            "c = Concat <axis = -1> (m0, m0)  m = ReduceSum <keepdims = 1> (c, l3)  s = Add (d, m)");
  CHECK(rewritten(fusion::fuse_attention, test::fixture(text, 17), 1e-4, Target::kOrt)
            .find("Shape Gather Concat Mul Expand Attention") != std::string::npos);
}

TEST_CASE("a mask that may have one sample or all is repeated for all") {
  const std::string inputs = "float[B,N,16] x0, bool[M,K] m",
                    hidden = "u = Unsqueeze (m, l12)  s = Where (u, d, least)";
  // The rows are masked too, so that they have as many samples as the mask, if it has more than one.
  const std::string masked = "f = Cast <to = 1> (m)  g = ReduceMax (f, l1)  h = Unsqueeze (g, l1)  x = Add (x0, h)";
  const auto fused = [&](Target target, int64_t opset) {
    const Model source = test::fixture(graph(inputs, masked, hidden), opset);
    Model result = clone(source);
    if (target == Target::kOrt) result.set_opset("com.microsoft", 1);
    infer(result, standard_types);
    PassContext context = test::pass_context();
    context.target = target;
    const PassTally tally = run_pass(result, fusion::fuse_attention, context);
    for (const auto& [reason, times] : tally.declined) UNSCOPED_INFO(reason);
    INFO(dump(*result.graph));
    REQUIRE(tally.applied == 1);
    std::string names = test::operators(*result.graph);
    Model same = clone(source);
    for (Model* model : {&same, &result}) fix_dimensions(*model, {{"M", Dim::symbol("B")}, {"K", Dim::symbol("N")}}, 0);
    test::require_same_model(same, result, 1e-4);
    return names;
  };
  CHECK(fused(Target::kOrt, 18) == "Cast ReduceMax Unsqueeze Add Cast Shape Expand Attention Relu");
  CHECK(fused(Target::kOnnx, 23).ends_with("Mul Where Expand Attention Relu"));
  // Without, the mask may have more samples than the rows.
  CHECK(declined(fusion::fuse_attention, graph(inputs, "x = Neg (x0)", hidden), 18, Target::kOrt) ==
        fusion::kMayRepeat);
}

TEST_CASE("a scale that is not positive is no attribute that ONNX Runtime takes from the standard") {
  std::string text = graph("float[B,N,16] x0", "x = Neg (x0)", "");
  const std::string scaled = "d = Div (p, two)";
  text.replace(text.find(scaled), scaled.size(), "s = Div (p, minus)");
  CHECK(declined(fusion::fuse_attention, text, 23) == "ONNX Runtime takes no scale that is not positive");
  CHECK(rewritten(fusion::fuse_attention, text, 17, 1e-4, Target::kOrt).ends_with("MultiHeadAttention Relu"));
}
