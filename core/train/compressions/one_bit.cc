// A bit for each number: whether it is negative; and for each block of them the means of both kinds (Seide et al.
// 2014).
#include <algorithm>
#include <array>
#include <cstring>

#include "core/train/compression.h"

namespace mlopt::train {
namespace {

constexpr size_t kBlock = 512;

/// What stands for numbers of 0 and more, and for negative ones.
using Means = std::array<float, 2>;

size_t blocks(size_t count) { return (count + kBlock - 1) / kBlock; }

size_t bytes(size_t count, double) { return blocks(count) * sizeof(Means) + (count + 7) / 8; }

Means means_of(std::span<const float> block) {
  double sums[2] = {}, counts[2] = {};
  for (const float value : block) {
    sums[value < 0] += static_cast<double>(value);
    counts[value < 0] += 1;
  }
  Means means;
  for (size_t k = 0; k < 2; ++k) means[k] = counts[k] > 0 ? static_cast<float>(sums[k] / counts[k]) : 0;
  return means;
}

void encode(std::span<const float> values, double, std::byte* out) {
  for (size_t b = 0; b < blocks(values.size()); ++b) {
    const Means means = means_of(values.subspan(b * kBlock, std::min(kBlock, values.size() - b * kBlock)));
    std::memcpy(out + b * sizeof means, &means, sizeof means);
  }
  std::byte* bits = out + blocks(values.size()) * sizeof(Means);
  std::fill_n(bits, (values.size() + 7) / 8, std::byte{0});
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] < 0) bits[i / 8] |= std::byte{1} << (i % 8);
}

void add(const std::byte* code, double, std::span<float> into) {
  const std::byte* bits = code + blocks(into.size()) * sizeof(Means);
  for (size_t b = 0; b < blocks(into.size()); ++b) {
    Means means;
    std::memcpy(&means, code + b * sizeof means, sizeof means);
    for (size_t i = b * kBlock; i < std::min((b + 1) * kBlock, into.size()); ++i)
      into[i] += means[std::to_integer<size_t>(bits[i / 8] >> (i % 8)) & 1];
  }
}

}  // namespace

CompressionDef one_bit_compression() {
  return {"1bit", "signs, and the means of both for each 512 numbers", std::nullopt, false, bytes, encode, add};
}

}  // namespace mlopt::train
