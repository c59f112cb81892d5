#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// Scores of two heads of 3, of so many keys, by a constant of this type.
std::string graph(const std::string& factor, const std::string& keys = "M", const std::string& scores = "Mul (s, C)",
                  const std::string& more = "") {
  return "g (double[B,2,N,3] q, double[B,2,3," + keys + "] k, " + factor + ") => (double[B,2,N," + keys + "] y" +
         (more.empty() ? "" : ", double[B,2,N," + keys + "] z") + ") { s = MatMul (q, k)  y = " + scores + "  " + more +
         " }";
}

std::string rewritten(const std::string& graph) { return test::rewritten(fusion::move_head_scales, graph, 23); }

std::string declined(const std::string& graph, int64_t opset = 23, Target target = Target::kOnnx) {
  return test::declined(fusion::move_head_scales, graph, opset, target);
}

}  // namespace

TEST_CASE("a number for each head goes to the queries") {
  for (const char* factor : {"double[2,1,1] C", "double[1,2,1,1] C"})
    for (const char* scores : {"Mul (s, C)", "Mul (C, s)"})
      CHECK(rewritten(graph(factor, "M", scores)) == "Mul MatMul");
}

TEST_CASE("factors of other axes and of no constants stay") {
  for (const char* factor : {"double[1,1,1] C", "double[1] C"})
    CHECK(declined(graph(factor)) == "its constant is no number for each head");
  CHECK(declined(graph("double[2,1,3] C", "3")) == "its constant is no number for each head");
  CHECK(declined(graph("double[2,1,1] c", "M", "Mul (s, c)")) == "'c' is not constant");
}

TEST_CASE("scores that are fewer than the queries, or are read elsewhere, are scaled themselves") {
  CHECK(declined(graph("double[2,1,1] C", "2")) == "the scores are fewer than the queries");
  CHECK(rewritten(graph("double[2,1,1] C", "3")) == "Mul MatMul");
  CHECK(!declined(graph("double[2,1,1] C", "M", "Mul (s, C)", "z = Exp (s)")).empty());
}

TEST_CASE("there is nothing to win without the standard's Attention") {
  constexpr const char* kReason = "only Attention of opset 23 gains from it";
  CHECK(declined(graph("double[2,1,1] C"), 22) == kReason);
  CHECK(declined(graph("double[2,1,1] C"), 23, Target::kOrt) == kReason);
}
