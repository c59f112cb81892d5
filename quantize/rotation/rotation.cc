#include "quantize/rotation/rotation.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "core/base/parallel.h"
#include "core/base/rng.h"
#include "core/tensor/cast.h"

namespace mlopt::quantize {
namespace {

/// The Hadamard matrix of Sylvester times blocks of x, a power of two of them.
void hadamard(std::span<double> x, size_t block) {
  for (size_t half = block; half < x.size(); half *= 2)
    for (size_t first = 0; first < x.size(); first += 2 * half)
      for (size_t i = first; i < first + half; ++i) {
        const double a = x[i], b = x[i + half];
        x[i] = a + b;
        x[i + half] = a - b;
      }
  const double scale = 1 / std::sqrt(static_cast<double>(x.size() / block));
  for (double& value : x) value *= scale;
}

/// [places, frequencies] of the orthonormal cosine transform; the first column is constant.
std::vector<double> cosines(int64_t size) {
  std::vector<double> basis;
  const auto n = static_cast<double>(size);
  for (int64_t i = 0; i < size; ++i)
    for (int64_t k = 0; k < size; ++k)
      basis.push_back(k == 0 ? std::sqrt(1 / n)
                             : std::sqrt(2 / n) * std::cos(std::numbers::pi * (static_cast<double>(i) + 0.5) *
                                                           static_cast<double>(k) / n));
  return basis;
}

}  // namespace

Rotation::Rotation(int64_t size, uint64_t seed) {
  Rng rng(seed);
  constexpr int kTopBit = 63;
  for (int64_t i = 0; i < size; ++i) signs_.push_back(i > 0 && rng.next() >> kTopBit ? -1 : 1);
  odd_ = static_cast<size_t>(size) >> std::countr_zero(static_cast<uint64_t>(size));
  basis_ = cosines(static_cast<int64_t>(odd_));
}

void Rotation::transform(std::span<double> x, bool back) const {
  hadamard(x, odd_);
  if (odd_ == 1) return;
  std::vector<double> sums(odd_);
  for (size_t first = 0; first < x.size(); first += odd_) {
    std::fill(sums.begin(), sums.end(), 0);
    for (size_t i = 0; i < odd_; ++i)
      for (size_t k = 0; k < odd_; ++k) (back ? sums[i] : sums[k]) += basis_[i * odd_ + k] * x[first + (back ? k : i)];
    std::copy(sums.begin(), sums.end(), x.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

void Rotation::apply(std::span<double> x) const {
  transform(x, false);
  for (size_t i = 0; i < x.size(); ++i) x[i] *= signs_[i];
  transform(x, true);
}

Tensor Rotation::apply(const Tensor& tensor, int axis, const std::vector<float>& scale) const {
  std::vector<float> numbers = to_floats(tensor);
  const int64_t all = static_cast<int64_t>(numbers.size()) / size();
  const bool last = axis == static_cast<int>(tensor.rank()) - 1;
  const int64_t step = last ? 1 : all, next = last ? size() : 1;
  parallel_for(all, 16, [&](int64_t begin, int64_t end) {
    std::vector<double> x(signs_.size());
    for (int64_t v = begin; v < end; ++v) {
      float* at = numbers.data() + v * next;
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<double>(at[static_cast<int64_t>(i) * step]) *
               (scale.empty() ? 1 : static_cast<double>(scale[i]));
      apply(x);
      for (size_t i = 0; i < x.size(); ++i) at[static_cast<int64_t>(i) * step] = static_cast<float>(x[i]);
    }
  });
  return cast(Tensor::of<float>(tensor.dims(), numbers), tensor.dtype());
}

}  // namespace mlopt::quantize
