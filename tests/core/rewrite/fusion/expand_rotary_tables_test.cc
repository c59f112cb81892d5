#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using fusion::expand_rotary_tables;
using test::declined;
using test::rewritten;

namespace {

std::string turned(const std::string& x, const std::string& tables, const std::string& attributes = "") {
  return "g (float[" + x + "] x, float[" + tables + "] c, float[" + tables + "] s) => (float[" + x +
         "] y) { y = RotaryEmbedding " + attributes + " (x, c, s) }";
}

}  // namespace

TEST_CASE("tables of one sample are repeated for all") {
  CHECK(rewritten(expand_rotary_tables, turned("N,4,S,16", "1,S,8"), 23, 1e-6) ==
        "Shape Gather Concat Expand Shape Gather Concat Expand RotaryEmbedding");
  CHECK(rewritten(expand_rotary_tables, turned("3,S,32", "1,S,4", "<num_heads = 4>"), 23, 1e-6) ==
        "Expand Expand RotaryEmbedding");
}

TEST_CASE("tables that have a row for each sample stay, and what our own kernels run") {
  const std::string own = "its tables have a row for each sample";
  CHECK(declined(expand_rotary_tables, turned("1,4,S,16", "1,S,8"), 23) == own);
  CHECK(declined(expand_rotary_tables, turned("N,4,S,16", "N,S,8"), 23) == own);
  CHECK(declined(expand_rotary_tables, turned("N,4,S,16", "1,S,8"), 23, Target::kKernels) ==
        "our own kernels broadcast");
  // Positions index tables of all of them.
  CHECK(declined(expand_rotary_tables,
                 R"(g (float[N,4,S,16] x, float[9,8] c, float[9,8] s, int64[N,S] p) => (float[N,4,S,16] y)
    { y = RotaryEmbedding (x, c, s, p) })",
                 23)
            .empty());
}
