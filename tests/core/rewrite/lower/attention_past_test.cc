#include "core/rewrite/lower/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

Model model(const std::string& graph) {
  Model made = test::fixture(graph, 23);
  made.set_opset("com.microsoft", 1);
  return made;
}

std::string lowered(const std::string& graph) {
  return test::rewritten(lower::attention_past, model(graph), 1e-5, Target::kKernels);
}

std::string standard(const std::string& attrs = "", const std::string& more = "") {
  return "g (float[2,3,8] q, float[2,3,4] k, float[2,3,4] v, float[2,4,3,8] m, float[2,2,5,2] pk, float[2,2,5,2] pv) "
         "=> (float[2,3,8] y, float[2,2,8,2] nk, float[2,2,8,2] nv) { y, nk, nv = Attention <q_num_heads = 4, "
         "kv_num_heads = 2" +
         attrs + "> (q, k, v, m, pk, pv" + more + ") }";
}

std::string multi_head(const std::string& attrs, const std::string& bias = "") {
  return "g (float[2,3,8] q, float[2,3,8] k, float[2,3,8] v, float[24] B, int32[2,8] m, float[2,1,3,8] s, "
         "float[2,4,5,2] pk, float[2,4,5,2] pv) => (float[2,3,8] y, float[2,4,8,2] nk, float[2,4,8,2] nv) "
         "{ y, nk, nv = com.microsoft.MultiHeadAttention <num_heads = 4" +
         attrs + "> (q, k, v, " + bias + ", m, s, pk, pv) }";
}

const std::string kBoth = "Reshape Transpose Concat Reshape Transpose Concat ";

}  // namespace

TEST_CASE("the past is put in front of keys and values before attention") {
  CHECK(lowered(standard()) == kBoth + "Reshape Transpose Attention Transpose Reshape");
  CHECK(lowered(standard(", scale = 0.3")) == kBoth + "Reshape Transpose Attention Transpose Reshape");
  CHECK(lowered(standard(", is_causal = 1")) == kBoth + "Reshape Transpose Add Attention Transpose Reshape");
  CHECK(lowered(multi_head("")) == kBoth + "MultiHeadAttention");
  CHECK(lowered("g (float[2,4,3,2] q, float[2,2,3,2] k, float[2,2,3,2] v, float[2,2,5,2] pk, float[2,2,5,2] pv) => "
                "(float[2,4,3,2] y) { y = Attention (q, k, v, , pk, pv) }") == "Concat Concat Attention");
  CHECK(lowered("g (float[2,4,3,2] q, float[2,2,3,2] k, float[2,2,3,2] v, bool[3,8] m, float[2,2,5,2] pk, "
                "float[2,2,5,2] pv) => (float[2,4,3,2] y) { y = Attention <is_causal = 1> (q, k, v, m, pk, pv) }") ==
        "Concat Concat Where Add Attention");
}

TEST_CASE("attention that hides keys in ways that are no mask, adds a bias or has no past stays") {
  const auto kept = [](const std::string& graph) {
    Model source = model(graph);
    PassContext context = test::pass_context();
    context.target = Target::kKernels;
    infer(source, context.standard_types);
    const PassTally tally = run_pass(source, lower::attention_past, context);
    CHECK(tally.applied == 0);
    return tally.declined.empty() ? std::string() : tally.declined.begin()->first;
  };
  CHECK(kept(multi_head(", unidirectional = 1")) == "later keys are hidden");
  CHECK(kept("g (float[2,4,3,2] q, float[2,2,3,2] k, float[2,2,3,2] v, float[3,6] m, float[2,2,5,2] pk, "
             "float[2,2,5,2] pv) => (float[2,4,3,2] y) { y = Attention <is_causal = 1> (q, k, v, m, pk, pv) }") ==
        "later keys are hidden");
  CHECK(kept(multi_head("", "B")) == "scores are wanted, or a bias is added");
  CHECK(kept("g (float[2,3,8] q) => (float[2,3,8] y) { y = com.microsoft.MultiHeadAttention <num_heads = 4> () }")
            .empty());
  CHECK(kept("g (float[2,3,8] q, float[2,3,8] k, float[2,3,8] v) => (float[2,3,8] y) { y = Attention <q_num_heads = "
             "4, kv_num_heads = 4> (q, k, v) }")
            .empty());
}
