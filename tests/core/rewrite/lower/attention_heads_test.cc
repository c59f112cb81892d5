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

/// The operators afterwards; the results stay.
std::string lowered(const std::string& graph) {
  return test::rewritten(lower::attention_heads, model(graph), 1e-5, Target::kKernels);
}

std::string kept(const std::string& graph) {
  Model source = model(graph);
  PassContext context = test::pass_context();
  context.target = Target::kKernels;
  infer(source, context.standard_types);
  const PassTally tally = run_pass(source, lower::attention_heads, context);
  CHECK(tally.applied == 0);
  return tally.declined.empty() ? "" : tally.declined.begin()->first;
}

std::string packed(const std::string& attrs, const std::string& more = "") {
  return "g (float[2,5,6] x, float[6,24] W, float[24] B, int32[2,5] m, float[1,4,5,5] s) => (float[2,5,8] y) "
         "{ y = com.microsoft.Attention <num_heads = 4" +
         attrs + "> (x, W, B" + more + ") }";
}

std::string multi_head(const std::string& attrs, const std::string& more = "") {
  return "g (float[2,3,8] q, float[2,5,8] k, float[2,5,12] v, float[28] B, int32[2,5] m, float[2,1,3,5] s) "
         "=> (float[2,3,12] y) { y = com.microsoft.MultiHeadAttention <num_heads = 4" +
         attrs + "> (q, k, v" + more + ") }";
}

const std::string kOut = " Attention Transpose Reshape";

}  // namespace

TEST_CASE("attention with weights of its own becomes a product and attention over heads") {
  const std::string heads = "MatMul Add Reshape Transpose Gather Gather Gather";
  CHECK(lowered(packed("")) == heads + kOut);
  CHECK(lowered(packed(", unidirectional = 1, scale = 0.3")) == heads + kOut);
  CHECK(lowered(packed(", mask_filter_value = -3.0", ", m")) == heads + " Greater Where Reshape" + kOut);
  CHECK(lowered(packed(", unidirectional = 1", ", m, , s")) == heads + " Greater Where Reshape Add Add" + kOut);
}

TEST_CASE("attention of queries, keys and values side by side becomes attention over heads") {
  const std::string heads = "Reshape Transpose Reshape Transpose Reshape Transpose";
  CHECK(lowered(multi_head("")) == heads + kOut);
  CHECK(lowered(multi_head(", unidirectional = 1", ", B, m, s")) ==
        "Add Add Add " + heads + " Greater Where Reshape Add Add" + kOut);
  CHECK(lowered("g (float[2,3,8] q, float[2,4,5,2] k, float[2,4,5,3] v) => (float[2,3,12] y) "
                "{ y = com.microsoft.MultiHeadAttention <num_heads = 4> (q, k, v) }") == "Reshape Transpose" + kOut);
}

TEST_CASE("the standard's attention loses what kernels do not take") {
  CHECK(lowered("g (float[2,3,8] q, float[2,5,4] k, float[2,5,6] v, float[3,5] s) => (float[2,3,12] y) "
                "{ y = Attention <q_num_heads = 4, kv_num_heads = 2, is_causal = 1> (q, k, v, s) }") ==
        "Reshape Transpose Reshape Transpose Reshape Transpose Add" + kOut);
  CHECK(lowered("g (float[2,4,5,2] q) => (float[2,4,5,2] y) { y = Attention <is_causal = 1> (q, q, q) }") ==
        "Attention");
  CHECK(lowered(
            "g (float[2,4,5,2] q) => (float[2,4,5,2] y) { y = Attention <is_causal = 1, softcap = 0.2> (q, q, q) }") ==
        "Attention");
  CHECK(lowered("g (float[2,4,5,2] q, bool[5,5] m) => (float[2,4,5,2] y) { y = Attention (q, q, q, m) }") ==
        "Where Attention");
}

TEST_CASE("attention that kernels take, or that needs what is not here, stays") {
  CHECK(kept("g (float[2,4,5,2] q) => (float[2,4,5,2] y) { y = Attention (q, q, q) }") == "heads are an axis");
  CHECK(kept("g (float[2,N,8] q) => (float[2,N,8] y) "
             "{ y = Attention <q_num_heads = 4, kv_num_heads = 4> (q, q, q) }") == "it is not float32 of known shape");
  CHECK(kept("g (float[2,4,5,2] q, float[5,3] m) => (float[2,4,5,2] y) "
             "{ y = Attention <is_causal = 1> (q, q, q, m) }") == "sizes or masks do not fit");
  CHECK(kept("g (float[1,1,9000,1] q) => (float[1,1,9000,1] y) { y = Attention <is_causal = 1> (q, q, q) }") ==
        "a mask of so many keys is too large");
  CHECK(kept("g (float[2,5,6] x, float[6,24] W, float[24] B, int32[2] m) => (float[2,5,8] y) "
             "{ y = com.microsoft.Attention <num_heads = 4> (x, W, B, m) }") == "sizes differ, or masks do not fit");
  CHECK(kept("g (float[2,5,6] x, float[6,24] W, float[24] B, float[2,2,4,3,2] p) => (float[2,5,8] y) "
             "{ y = com.microsoft.Attention <num_heads = 4> (x, W, B, , p) }") ==
        "keys of before, or turned ones, are wanted");
}
