#include "core/rewrite/lower/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// The operators that are left of the lowered graph.
std::string lowered(const std::string& graph, int64_t times) {
  Model model = test::fixture(graph);
  model.set_opset("mlopt", 1);
  infer(model, test::pass_context().standard_types);
  PassContext context = test::pass_context();
  context.target = Target::kKernels;
  run_pass(model, lower::counted, context);
  CHECK(run_pass(model, lower::counted_nothing, context).applied == times);
  return test::operators(*model.graph);
}

}  // namespace

TEST_CASE("what is counted of nothing is nothing") {
  CHECK(lowered("g (float[2,0] x) => (int64[2,K] y) { y = NonZero (x) }", 1) == "FirstRows");
  CHECK(lowered("g (float[0] x) => (float[K] y) { y = Unique (x) }", 1) == "FirstRows Reshape Gather");
  CHECK(lowered("g (float[1,0,4] b, float[1,2,0] s) => (int64[K,3] y) <int64[1] most = {3}> "
                "{ y = NonMaxSuppression (b, s, most) }",
                1) == "FirstRows");
  CHECK(lowered("g (float[2,N] x) => (int64[2,K] y) { y = NonZero (x) }", 0) == "CountedNonZero FirstRows");
}
