#include "core/train/mixup.h"

#include <fmt/core.h>

#include <cmath>

#include "core/base/error.h"
#include "core/tensor/cast.h"

namespace mlopt::train {
namespace {

constexpr uint64_t kMixup = 0x6d69787570;  // its draws have nothing to do with those that shift and flip

double positive_uniform(Rng& rng) { return 1 - rng.uniform(); }

/// The logarithm of a draw of the gamma distribution (Marsaglia and Tsang 2000): of a small alpha most draws are too
/// small for a number itself.
double draw_log_gamma(double alpha, Rng& rng) {
  if (alpha < 1) return draw_log_gamma(alpha + 1, rng) + std::log(positive_uniform(rng)) / alpha;
  const double d = alpha - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = rng.normal(), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(positive_uniform(rng)) < 0.5 * x * x + d - d * v + d * std::log(v)) return std::log(d * v);
  }
}

}  // namespace

/// A share of two gamma draws.
double draw_beta(double alpha, Rng& rng) {
  const double first = draw_log_gamma(alpha, rng), second = draw_log_gamma(alpha, rng);
  return 1 / (1 + std::exp(second - first));
}

std::vector<double> mixup_shares(double alpha, std::span<const int64_t> samples, int64_t epoch, uint64_t seed) {
  std::vector<double> shares;
  for (const int64_t sample : samples) {
    Rng rng(seed_of({kMixup, seed, static_cast<uint64_t>(epoch), static_cast<uint64_t>(sample)}));
    shares.push_back(draw_beta(alpha, rng));
  }
  return shares;
}

Tensor mix_with_next(const Tensor& samples, std::span<const double> shares) {
  if (!is_float(samples.dtype()))
    input_error(fmt::format("{} {} cannot be mixed", name(samples.dtype()), to_string(samples.dims())), "--augment",
                "leave mixup out");
  const auto count = static_cast<int64_t>(shares.size());
  const Tensor from = cast(samples, DType::kF32);
  Dims dims = from.dims();
  const int64_t size = from.size() / (count + 1);
  dims[0] = dims[0] / (count + 1) * count;
  Tensor mixed(DType::kF32, dims);
  for (int64_t i = 0; i < count; ++i) {
    const auto share = static_cast<float>(shares[static_cast<size_t>(i)]);
    const float *own = from.data<float>() + i * size, *other = own + size;
    float* to = mixed.mutable_data<float>() + i * size;
    for (int64_t k = 0; k < size; ++k) to[k] = share * own[k] + (1 - share) * other[k];
  }
  return cast(mixed, samples.dtype());
}

}  // namespace mlopt::train
