#pragma once
#include <vector>

#include "backends/cpu/activation.h"
#include "backends/cpu/conv_shape.h"

namespace mlopt::test {

/// Element (n, c, y, x) of an image that lies channels-last.
size_t place(const Dims& dims, int64_t n, int64_t c, int64_t y, int64_t x);

/// Random numbers for a convolution over two spatial axes; images lie channels-last.
struct Convolution {
  explicit Convolution(cpu::ConvShape shape);

  /// activation(conv(src, weights) + bias + addend), the sums in double.
  std::vector<float> results(bool with_bias, bool with_addend, const Activation& activation) const;

  cpu::ConvShape shape;
  std::vector<float> src, weights, bias, addend;
};

/// Each element within `tolerance` (1 + |wanted|), or alike where it is not finite.
void require_near(const std::vector<float>& actual, const std::vector<float>& wanted, double tolerance);

}  // namespace mlopt::test
