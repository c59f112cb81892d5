#include "core/rewrite/lower/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// Queries of two heads, keys and values of one.
std::string graph(const std::string& y) {
  return "g (float[2,3,2,4] a, float[2,5,1,4] b, float[2,5,1,6] c, float[3,5] m) => (float[2,3,2,6] y) {"
         "q = Transpose <perm = [0, 2, 1, 3]> (a) k = Transpose <perm = [0, 2, 1, 3]> (b) "
         "v = Transpose <perm = [0, 2, 1, 3]> (c) y0 = Attention <scale = 0.3> (q, k, v, m) y = " +
         y + " }";
}

}  // namespace

TEST_CASE("attention between transposed heads reads and writes them side by side") {
  CHECK(test::rewritten(lower::attention_rows, test::fixture(graph("Transpose <perm = [0, 2, 1, 3]> (y0)"), 23), 1e-6,
                        Target::kKernels) == "Reshape Reshape Reshape Attention Reshape");
}

TEST_CASE("rows of a batch of one may come first") {
  CHECK(test::rewritten(lower::attention_rows,
                        test::fixture("g (float[3,1,2,4] a, float[1,5,2,4] b) => (float[1,3,2,4] y) {"
                                      "q = Transpose <perm = [1, 2, 0, 3]> (a) k = Transpose <perm = [0, 2, 1, 3]> (b) "
                                      "z = Attention (q, k, k) y = Transpose <perm = [0, 2, 1, 3]> (z) }",
                                      23),
                        1e-6, Target::kKernels) == "Reshape Reshape Reshape Attention Reshape");
}

TEST_CASE("attention over heads that are an axis anyway stays") {
  const auto kept = [](const std::string& text) {
    Model source = test::fixture(text, 23);
    PassContext context = test::pass_context();
    context.target = Target::kKernels;
    infer(source, context.standard_types);
    const PassTally tally = run_pass(source, lower::attention_rows, context);
    CHECK(tally.applied == 0);
    return tally.declined.empty() ? "" : tally.declined.begin()->first;
  };
  CHECK(kept("g (float[2,2,3,4] q) => (float[2,3,2,4] y) "
             "{ a = Attention (q, q, q) y = Transpose <perm = [0, 2, 1, 3]> (a) }") ==
        "an operand's heads are an axis already");
  CHECK(kept("g (float[2,3,2,4] a) => (float[2,3,4,2] y) { q = Transpose <perm = [0, 2, 1, 3]> (a) "
             "z = Attention (q, q, q) y = Transpose <perm = [0, 2, 3, 1]> (z) }") == "other axes are exchanged");
  kept(
      "g (float[2,3,2,4] a) => (float[2,3,2,4] y, float[2,2,3,4] z) "  // the result is wanted as it is too
      "{ q = Transpose <perm = [0, 2, 1, 3]> (a) z = Attention (q, q, q) "
      "y = Transpose <perm = [0, 2, 1, 3]> (z) }");
}
