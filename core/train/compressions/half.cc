// fp16 and bf16: half the bytes, summed as halves on the way.
#include "core/tensor/small_float.h"
#include "core/train/compression.h"

namespace mlopt::train {
namespace {

size_t bytes(size_t count, double) { return 2 * count; }

template <class Half, Half (*kNarrow)(float)>
void encode(std::span<const float> values, double, std::byte* out) {
  auto* halves = reinterpret_cast<Half*>(out);
  for (size_t i = 0; i < values.size(); ++i) halves[i] = kNarrow(values[i]);
}

template <class Half>
void add(const std::byte* code, double, std::span<float> into) {
  const auto* halves = reinterpret_cast<const Half*>(code);
  for (size_t i = 0; i < into.size(); ++i) into[i] += to_float(halves[i]);
}

}  // namespace

CompressionDef fp16_compression() {
  return {"fp16", "half the bytes", DType::kF16, false, bytes, encode<Half, to_half>, add<Half>};
}

CompressionDef bf16_compression() {
  return {"bf16", "half the bytes, of any size", DType::kBF16, false,
          bytes,  encode<BFloat16, to_bfloat16>, add<BFloat16>};
}

}  // namespace mlopt::train
