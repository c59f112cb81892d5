#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

const Dims kShapes[] = {{2, 1}, {3, 5}, {2, 3, 4, 5}, {1, 16, 33, 31}, {4, 19, 7}, {2, 8, 2, 3, 4}, {64, 17, 9, 9}};

Tensor by_channel(const Dims& x, double low, double high, uint64_t seed) {
  return uniform({x[1]}, low, high, DType::kF32, seed);
}

}  // namespace

TEST_CASE("BatchNormalization by the batch gives what the reference gives") {
  const OpOptions training{.attrs = {attr("training_mode", 1), attr("epsilon", 1e-3f)}, .opset = 15, .outputs = 3};
  OpOptions alone = training;  // without the statistics, which the node may leave out
  alone.outputs = 1;
  for (const Dims& dims : kShapes)
    for (const double shift : {0.0, 50.0}) {
      INFO(to_string(dims) << " around " << shift);
      const Tensor x = uniform(dims, shift - 1, shift + 2);
      const std::vector<Datum> inputs{x, by_channel(dims, 0.5, 2, 2), by_channel(dims, -1, 1, 3),
                                      by_channel(dims, -1, 1, 4), by_channel(dims, 0.5, 2, 5)};
      const double tolerance = shift == 0 ? 1e-5 : 2e-4;  // x itself is only known to 4e-6 there
      for (const OpOptions& options : {training, alone})
        require_as_reference("BatchNormalization", inputs, options, tolerance);
    }
}

TEST_CASE("the gradient of BatchNormalization gives what the reference gives") {
  for (const Dims& dims : kShapes) {
    INFO(to_string(dims));
    const Tensor x = uniform(dims, -1, 2), dy = uniform(dims, -1, 1, DType::kF32, 2),
                 scale = by_channel(dims, 0.5, 2, 3);
    const OpOptions options{.attrs = {attr("epsilon", 1e-3f)}, .domain = "mlopt", .outputs = 3};
    require_as_reference("BatchNormGrad", {x, dy, scale}, options, 2e-5);
    require_as_reference("BatchNormGrad", {x, dy, scale, by_channel(dims, -1, 1, 4), by_channel(dims, 0.5, 2, 5)},
                         options, 2e-5);
  }
}

}  // namespace mlopt::test
