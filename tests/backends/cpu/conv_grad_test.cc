#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

struct Geometry {
  Dims x, weights;
  std::vector<int64_t> strides, pads, dilations;
  int64_t group = 1;
};

Dims places(const Geometry& g) {
  Dims dims = {g.x[0], g.weights[0]};
  const size_t rank = g.strides.size();
  for (size_t i = 0; i < rank; ++i)
    dims.push_back(
        (g.x[i + 2] + g.pads[i] + g.pads[rank + i] - (g.weights[i + 2] - 1) * g.dilations[i] - 1) / g.strides[i] + 1);
  return dims;
}

}  // namespace

TEST_CASE("the gradient of a convolution's weights gives what the reference gives") {
  const Geometry all[] = {
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
  for (const Geometry& g : all) {
    INFO(to_string(g.x) << " by " << to_string(g.weights));
    const Dims kernel(g.weights.begin() + 2, g.weights.end());
    const OpOptions options{.attrs = {{"kernel_shape", kernel, ""},
                                      {"strides", g.strides, ""},
                                      {"pads", g.pads, ""},
                                      {"dilations", g.dilations, ""},
                                      {"group", g.group, ""},
                                      {"shape", g.weights, ""}},
                            .domain = "mlopt"};
    require_as_reference("ConvGradWeight", {uniform(g.x, -1, 1), uniform(places(g), -1, 1, DType::kF32, 2)}, options,
                         2e-5);
  }
}

}  // namespace mlopt::test
