#pragma once
#include <vector>

#include "tests/support/cases.h"

namespace mlopt::test {

/// A convolution whose weights have a gradient: [N, C, places...] by [M, C / group, kernel...].
struct WeightGradient {
  Dims x, weights;
  std::vector<int64_t> strides, pads, dilations;
  int64_t group = 1;

  /// [N, M, places...] of the result.
  Dims places() const {
    Dims dims = {x[0], weights[0]};
    const size_t rank = strides.size();
    for (size_t i = 0; i < rank; ++i)
      dims.push_back((x[i + 2] + pads[i] + pads[rank + i] - (weights[i + 2] - 1) * dilations[i] - 1) / strides[i] + 1);
    return dims;
  }
  /// Of mlopt.ConvGradWeight.
  OpOptions options(DType type = DType::kF32) const {
    return {.attrs = {{"kernel_shape", Dims(weights.begin() + 2, weights.end()), ""},
                      {"strides", strides, ""},
                      {"pads", pads, ""},
                      {"dilations", dilations, ""},
                      {"group", group, ""},
                      {"shape", weights, ""},
                      {"type0", Type::tensor(type, weights), ""}},
            .domain = "mlopt"};
  }
};

}  // namespace mlopt::test
