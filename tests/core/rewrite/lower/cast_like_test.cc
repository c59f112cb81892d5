#include "core/rewrite/lower/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

TEST_CASE("what is cast like another value is cast to its type") {
  CHECK(test::rewritten(lower::cast_like,
                        "g (float[2,3] x, double[N] like) => (double[2,3] y) { y = CastLike (x, like) }", 21,
                        0) == "Cast");
}

TEST_CASE("a type that is not known stays open") {
  Model model = test::fixture("g (float[2,3] x, double[N] like) => (double[2,3] y) { y = CastLike (x, like) }");
  model.graph->find("like")->type = {};
  PassContext context;
  const PassTally tally = run_pass(model, lower::cast_like, context);
  CHECK(tally.applied == 0);
  CHECK(tally.declined.contains("its type is not known"));
}
