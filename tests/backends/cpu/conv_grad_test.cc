#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/weight_gradient.h"

namespace mlopt::test {
TEST_CASE("the gradient of a convolution's weights gives what the reference gives") {
  const WeightGradient all[] = {
      {{2, 3, 9, 9}, {8, 3, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}},
      {{3, 16, 8, 7}, {24, 16, 3, 3}, {2, 2}, {1, 0, 1, 2}, {1, 1}},
      {{2, 7, 6, 6}, {5, 7, 1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}},
      {{2, 16, 10, 10}, {32, 16, 1, 1}, {2, 2}, {0, 0, 0, 0}, {1, 1}},
      {{2, 16, 9, 9}, {16, 1, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 16},
      {{2, 12, 9, 9}, {8, 3, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 4},
      {{2, 8, 11, 11}, {8, 8, 3, 3}, {1, 1}, {2, 2, 2, 2}, {2, 2}},
      {{4, 6, 30}, {10, 6, 5}, {2}, {2, 2}, {1}},
      {{1, 4, 5, 6, 7}, {6, 4, 3, 3, 3}, {1, 2, 1}, {1, 1, 1, 1, 1, 1}, {1, 1, 1}},
  };
  for (const WeightGradient& g : all) {
    INFO(to_string(g.x) << " by " << to_string(g.weights));
    require_as_reference("ConvGradWeight", {uniform(g.x, -1, 1), uniform(g.places(), -1, 1, DType::kF32, 2)},
                         g.options(), 2e-5);
  }
}

}  // namespace mlopt::test
