#include "graphopt/passes/support.h"

#include "core/base/error.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

TEST_CASE("rewrites that do not come to rest are an error, and no endless loop") {
  Model model = test::fixture("g (float[2] x) => (float[2] y) { a = Relu (x)  y = Tanh (a) }");
  PassTally tally;
  REQUIRE_THROWS_WITH(graphopt::rewrite_one_by_one(
                          *model.graph, [](Graph&) { return true; }, tally),
                      Catch::Contains("do not come to rest"));
}

TEST_CASE("rewrites are counted until there are no more") {
  Model model = test::fixture("g (float[2] x) => (float[2] y) { a = Relu (x)  y = Tanh (a) }");
  PassTally tally;
  int left = 7;
  graphopt::rewrite_one_by_one(
      *model.graph, [&](Graph&) { return left-- > 0; }, tally);
  CHECK(tally.applied == 7);
}

TEST_CASE("numbers that fit a type only without their bits are no constant of it") {
  const Tensor half(DType::kF16, {2}), single(DType::kF32, {2});
  CHECK_FALSE(graphopt::tensor_like(half, {2}, {1e-5, -3e-6}));
  CHECK(graphopt::tensor_like(half, {2}, {1e-5, 1}));
  CHECK(graphopt::tensor_like(half, {2}, {0, 0}));
  CHECK_FALSE(graphopt::tensor_like(half, {2}, {1e5, 1}));
  CHECK(graphopt::tensor_like(single, {2}, {1e-5, -3e-6}));
  CHECK_FALSE(graphopt::tensor_like(single, {2}, {1e-40, 0}));
}
