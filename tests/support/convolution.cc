#include "tests/support/convolution.h"

#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::test {
namespace {

std::vector<float> numbers(const Dims& dims, uint64_t seed) {
  const Tensor t = uniform(dims, -1, 1, DType::kF32, seed);
  return {t.data<float>(), t.data<float>() + t.size()};
}

double sum_at(const Convolution& o, int64_t n, int64_t k, int64_t y, int64_t x) {
  const cpu::ConvShape& s = o.shape;
  const auto& w = s.window;
  const int64_t taps = w.kernel[0] * w.kernel[1], channels = s.src[1] / s.groups;
  const int64_t first = k / (s.dst[1] / s.groups) * channels;
  double sum = 0;
  for (int64_t i = 0; i < taps; ++i) {
    const int64_t row = y * w.strides[0] - w.begin[0] + i / w.kernel[1] * w.dilations[0];
    const int64_t column = x * w.strides[1] - w.begin[1] + i % w.kernel[1] * w.dilations[1];
    if (row < 0 || row >= s.src[2] || column < 0 || column >= s.src[3]) continue;
    for (int64_t c = 0; c < channels; ++c)
      sum += static_cast<double>(o.weights[static_cast<size_t>((k * channels + c) * taps + i)]) *
             o.src[place(s.src, n, first + c, row, column)];
  }
  return sum;
}

}  // namespace

size_t place(const Dims& d, int64_t n, int64_t c, int64_t y, int64_t x) {
  return static_cast<size_t>(((n * d[2] + y) * d[3] + x) * d[1] + c);
}

Convolution::Convolution(cpu::ConvShape of)
    : shape(std::move(of)),
      src(numbers(shape.src, 1)),
      weights(numbers(shape.weights, 2)),
      bias(numbers({shape.dst[1]}, 3)),
      addend(numbers(shape.dst, 4)) {}

std::vector<float> Convolution::results(bool with_bias, bool with_addend, const Activation& activation) const {
  std::vector<float> out(addend.size());
  const Dims& d = shape.dst;
  for (int64_t n = 0; n < d[0]; ++n)
    for (int64_t k = 0; k < d[1]; ++k)
      for (int64_t y = 0; y < d[2]; ++y)
        for (int64_t x = 0; x < d[3]; ++x) {
          const size_t at = place(d, n, k, y, x);
          const double added = (with_bias ? bias[static_cast<size_t>(k)] : 0.0) + (with_addend ? addend[at] : 0.0);
          out[at] = static_cast<float>(sum_at(*this, n, k, y, x) + added);
        }
  cpu::apply_here(activation, out.data(), out.data(), static_cast<int64_t>(out.size()));
  return out;
}

void require_near(const std::vector<float>& actual, const std::vector<float>& wanted, double tolerance) {
  REQUIRE(actual.size() == wanted.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    const double a = actual[i], w = wanted[i];
    const bool same =
        std::isfinite(w) ? std::abs(a - w) <= tolerance * (1 + std::abs(w)) : (std::isnan(w) ? std::isnan(a) : a == w);
    if (!same) FAIL(fmt::format("element {} is {}, not {}", i, a, w));
  }
}

}  // namespace mlopt::test
