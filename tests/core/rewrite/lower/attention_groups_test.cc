#include "core/rewrite/lower/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// Six heads of queries; two of keys and values, each repeated and then joined.
const std::string kRepeated =
    "g (float[2,6,3,4] q, float[2,2,1,5,4] a, float[2,2,1,5,4] b) => (float[2,6,3,4] y) {"
    "j = Constant <value_ints = [2, 6, 5, 4]> () s = Constant <value_ints = [2, 2, 3, 5, 4]> ()"
    "a2 = Expand (a, s) b2 = Expand (b, s) k = Reshape (a2, j) v = Reshape (b2, j)"
    "y = Attention <scale = 0.3> (q, k, v) }";

int64_t applied(const std::string& text) {
  Model source = test::fixture(text, 23);
  PassContext context = test::pass_context();
  context.target = Target::kKernels;
  infer(source, context.standard_types);
  return run_pass(source, lower::attention_groups, context).applied;
}

}  // namespace

TEST_CASE("keys and values that were repeated for the heads of queries are read once") {
  CHECK(test::rewritten(lower::attention_groups, test::fixture(kRepeated, 23), 1e-6, Target::kKernels) ==
        "Reshape Reshape Attention");
}

TEST_CASE("attention of keys and values that are not repeated head by head stays") {
  CHECK(applied("g (float[2,6,3,4] q, float[2,6,5,4] k) => (float[2,6,3,4] y) { y = Attention (q, k, k) }") == 0);
  // All heads one after the other, again and again, is another order.
  CHECK(applied("g (float[2,6,3,4] q, float[2,1,2,5,4] a) => (float[2,6,3,4] y) {"
                "j = Constant <value_ints = [2, 6, 5, 4]> () s = Constant <value_ints = [2, 3, 2, 5, 4]> ()"
                "e = Expand (a, s) k = Reshape (e, j) y = Attention (q, k, k) }") == 0);
  // Only the values are.
  CHECK(applied("g (float[2,6,3,4] q, float[2,6,5,4] k, float[2,2,1,5,4] b) => (float[2,6,3,4] y) {"
                "j = Constant <value_ints = [2, 6, 5, 4]> () s = Constant <value_ints = [2, 2, 3, 5, 4]> ()"
                "e = Expand (b, s) v = Reshape (e, j) y = Attention (q, k, v) }") == 0);
}
