#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

/// Two samples of three rows whose condition `m` (of this type and data) hides keys from scores and probabilities, as
/// Keras writes it. All keys of the first sample are hidden.
std::string graph(const std::string& m = "bool[2,1,1,3] m = {0, 0, 0, 1, 0, 1}",
                  const std::string& kept = "Where (m, w, zero)", const std::string& hide = "-1.0e9",
                  const std::string& scores = "p") {
  return "g (float[2,3,16] x, bool[2,1,1,3] other, float[1,4,1,3] bias, float[16,16] Q, float[16,16] K, "
         "float[16,16] V) => (float[2,3,16] y) "
         "<int64[4] split = {0, 0, 4, 4}, int64[3] joint = {0, 0, 16}, float zero = {0}, float hide = {" +
         hide + "}, " + m +
         "> { q3 = MatMul (x, Q)  k3 = MatMul (x, K)  v3 = MatMul (x, V)  q4 = Reshape (q3, split) "
         "k4 = Reshape (k3, split)  v4 = Reshape (v3, split)  q = Transpose <perm = [0, 2, 1, 3]> (q4) "
         "k = Transpose <perm = [0, 2, 3, 1]> (k4)  v = Transpose <perm = [0, 2, 1, 3]> (v4)  p = MatMul (q, k)  " +
         (scores == "p" ? "" : "e = Add (p, bias)  ") + "s = Where (m, " + scores +
         ", hide)  w = Softmax <axis = -1> (s)  z = " + kept +
         "  o = MatMul (z, v)  t = Transpose <perm = [0, 2, 1, 3]> (o)  y = Reshape (t, joint) }";
}

}  // namespace

TEST_CASE("rows without keys are zero where the probabilities are") {
  CHECK(rewritten(fusion::fuse_attention, graph(), 17, 1e-4, Target::kOrt)
            .ends_with("Attention Cast ReduceMax Squeeze Mul"));
  CHECK(rewritten(fusion::fuse_attention, graph(), 18, 1e-4, Target::kOrt)
            .ends_with("Attention Cast ReduceMax Squeeze Mul"));
  CHECK(declined(fusion::fuse_attention, graph("bool[2,1,1,3] m = {0, 0, 0, 1, 0, 1}", "Where (m, zero, w)"), 17,
                 Target::kOrt) == "probabilities are zero for other keys than those that are hidden");
}

TEST_CASE("so they are where something is added to the scores, whose numbers are not known") {
  CHECK(rewritten(fusion::fuse_attention,
                  graph("bool[2,1,1,3] m = {0, 0, 0, 1, 0, 1}", "Where (m, w, zero)", "-1.0e9", "e"), 17, 1e-4,
                  Target::kOrt)
            .ends_with("Attention Cast ReduceMax Squeeze Mul"));
}

TEST_CASE("rows that minus infinity hides are no numbers before they are zero") {
  const std::string mask = "bool[2,1,1,3] m = {0, 0, 0, 1, 0, 1}";
  CHECK(rewritten(fusion::fuse_attention, graph(mask, "Where (m, w, zero)", "-inf"), 17, 1e-4, Target::kOrt)
            .ends_with("Attention IsNaN Where"));
}

TEST_CASE("other probabilities that are zero, and conditions of single heads, stay") {
  CHECK(declined(fusion::fuse_attention, graph("bool[2,1,1,3] m = {0, 0, 0, 1, 0, 1}", "Where (other, w, zero)"), 17,
                 Target::kOrt) == "probabilities are zero for other keys than those that are hidden");
  CHECK(declined(fusion::fuse_attention, graph("bool[1,4,1,3] m = {0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1, 0}"), 17,
                 Target::kOrt) == "which rows have no keys depends on the head");
}
