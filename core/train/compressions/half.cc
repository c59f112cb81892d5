// fp16 and bf16: half the bytes, summed as halves on the way.
#include <algorithm>

#include "core/tensor/halves.h"
#include "core/train/compression.h"

namespace mlopt::train {
namespace {

size_t bytes(size_t count, double) { return 2 * count; }

template <class T>
void encode(std::span<const float> values, double, std::byte* out) {
  narrow(values.data(), reinterpret_cast<T*>(out), static_cast<int64_t>(values.size()));
}

template <class T>
void add(const std::byte* code, double, std::span<float> into) {
  constexpr size_t kAtOnce = 1024;
  float wide[kAtOnce];
  for (size_t at = 0; at < into.size(); at += kAtOnce) {
    const size_t count = std::min(kAtOnce, into.size() - at);
    widen(reinterpret_cast<const T*>(code) + at, wide, static_cast<int64_t>(count));
    for (size_t i = 0; i < count; ++i) into[at + i] += wide[i];
  }
}

}  // namespace

CompressionDef fp16_compression() {
  return {"fp16", "half the bytes", DType::kF16, false, bytes, encode<Half>, add<Half>};
}

CompressionDef bf16_compression() {
  return {"bf16", "half the bytes, of any size", DType::kBF16, false, bytes, encode<BFloat16>, add<BFloat16>};
}

}  // namespace mlopt::train
