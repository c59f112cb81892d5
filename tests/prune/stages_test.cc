#include "prune/stages.h"

#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

TEST_CASE("weights are looked at in stages, those that read one value together") {
  const Model model = test::fixture(R"(g (float[N,2] x, float[2,2] A, float[2,2] B, float[2,2] C, float[2,2] D)
      => (float[N,2] y) {
    a = MatMul (x, A)
    b = MatMul (x, B)
    s = Add (a, b)
    c = MatMul (s, C)
    y = MatMul (c, D)
  })");
  const auto weights = find_weights(model, {}).weights;
  REQUIRE(weights.size() == 4);
  using Ends = std::vector<size_t>;
  CHECK(prune::stage_ends(weights, 24, 0) == Ends{2, 3, 4});
  CHECK(prune::stage_ends(weights, 1, 0) == Ends{4});
  CHECK(prune::stage_ends(weights, 2, 0) == Ends{3, 4});
  CHECK(prune::stage_ends(weights, 1, 48) == Ends{3, 4});  // 16 bytes of products each
  CHECK(prune::stage_ends(weights, 1, 16) == Ends{2, 3, 4});
}
