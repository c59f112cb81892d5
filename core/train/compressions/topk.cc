// The numbers farthest from 0 alone, with where they stand (Strom 2015; Aji and Heafield 2017).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "core/train/compression.h"

namespace mlopt::train {
namespace {

struct Entry {
  uint32_t index;
  float value;
};

size_t entries(size_t count, double share) {
  const auto wanted = static_cast<size_t>(std::ceil(static_cast<double>(count) * share));
  return std::min(count, std::max<size_t>(wanted, 1));
}

size_t bytes(size_t count, double share) { return entries(count, share) * sizeof(Entry); }

void encode(std::span<const float> values, double share, std::byte* out) {
  const size_t kept = entries(values.size(), share);
  std::vector<uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto distance = [&](uint32_t i) {  // that of what is no number, which has no order, being the farthest
    return std::isnan(values[i]) ? std::numeric_limits<float>::infinity() : std::fabs(values[i]);
  };
  const auto farther = [&](uint32_t a, uint32_t b) {
    const float x = distance(a), y = distance(b);
    return x != y ? x > y : a < b;
  };
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept) - 1, order.end(), farther);
  for (size_t i = 0; i < kept; ++i) {
    const Entry entry{order[i], values[order[i]]};
    std::memcpy(out + i * sizeof entry, &entry, sizeof entry);
  }
}

void add(const std::byte* code, double share, std::span<float> into) {
  const size_t kept = entries(into.size(), share);
  for (size_t i = 0; i < kept; ++i) {
    Entry entry;
    std::memcpy(&entry, code + i * sizeof entry, sizeof entry);
    into[entry.index] += entry.value;
  }
}

}  // namespace

CompressionDef topk_compression() {
  return {"topk", "the largest share alone, topk:1% by default", std::nullopt, true, bytes, encode, add};
}

}  // namespace mlopt::train
