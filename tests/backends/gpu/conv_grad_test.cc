#include "tests/support/catch.h"
#include "tests/support/gpu.h"
#include "tests/support/one_node.h"
#include "tests/support/weight_gradient.h"

namespace mlopt::test {
namespace {

void check(const WeightGradient& g, DType type, double tolerance) {
  INFO(to_string(g.x) << " by " << to_string(g.weights));
  require_on_gpu("ConvGradWeight", {uniform(g.x, -1, 1, type), uniform(g.places(), -1, 1, type, 2)}, g.options(type),
                 tolerance);
}

}  // namespace

TEST_CASE("the gradient of a convolution's weights on a GPU") {
  const WeightGradient all[] = {
      {{2, 3, 9, 9}, {8, 3, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}},
      {{3, 16, 8, 7}, {24, 16, 3, 3}, {2, 2}, {1, 0, 1, 2}, {1, 1}},
      {{2, 16, 10, 10}, {32, 16, 1, 1}, {2, 2}, {0, 0, 0, 0}, {1, 1}},
      {{3, 20, 6, 5}, {16, 20, 1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}},
      {{2, 16, 9, 9}, {16, 1, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 16},
      {{2, 12, 9, 9}, {48, 6, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 2},
      {{2, 8, 11, 11}, {16, 8, 3, 3}, {1, 1}, {2, 2, 2, 2}, {2, 2}},
      {{4, 6, 30}, {10, 6, 5}, {2}, {2, 2}, {1}},
      {{1, 4, 5, 6, 7}, {6, 4, 3, 3, 3}, {1, 2, 1}, {1, 1, 1, 1, 1, 1}, {1, 1, 1}},
  };
  for (const WeightGradient& g : all) check(g, DType::kF32, 2e-5);
  check(all[1], DType::kF16, 5e-3);
  check(all[4], DType::kBF16, 4e-2);
}

TEST_CASE("the gradient of a convolution's weights sums images that do not fit into columns at once on a GPU") {
  const WeightGradient g{{3, 16, 96, 96}, {16, 16, 7, 7}, {1, 1}, {3, 3, 3, 3}, {1, 1}};  // 29 MB of columns an image
  const std::vector<Datum> inputs{uniform(g.x, -1, 1), uniform(g.places(), -1, 1, DType::kF32, 2)};
  const OpOptions options = g.options();
  const auto plan = gpu_on_host()->compile(one_node("ConvGradWeight", inputs, options, 2), {});
  // 27 648 products of about 1/4 are added up in float32.
  require_close(plan->run(inputs)[0].tensor(), run_op("ConvGradWeight", inputs, options), 1e-3);
}

}  // namespace mlopt::test
