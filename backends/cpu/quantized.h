#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "backends/cpu/bytes.h"
#include "backends/cpu/dnn.h"
#include "core/base/expected.h"
#include "core/ir/view.h"

namespace mlopt::cpu {

/// Do this processor's 8 bit products add up in 32 bits (VNNI, AMX)? Older instructions add pairs of products in 16
/// bits, where full-range numbers saturate, and oneDNN halves weights to make up for signed sources.
bool has_byte_products();

/// Zero points or scales in an input: one for all, or one for each channel.
std::vector<int32_t> zeros_in(const Tensor* zero);  ///< {0} when it is absent
/// Nothing when the input is not a constant float32 tensor.
std::optional<std::vector<float>> constant_scales(const NodeView& view, int i);

/// Constant weights of 8 bits: as int8 (uint8 shifted by 128) and their zero points in that form.
struct ByteWeights {
  Tensor numbers;              ///< int8, dims as stored
  std::vector<int32_t> zeros;  ///< one, or one for each channel

  bool symmetric() const;  ///< all zero points are 0
};
ByteWeights byte_weights(const Tensor& weights, std::vector<int32_t> zeros);

// Constants that primitives are given when they run.
Memory memory_of(const std::vector<float>& values);
Memory memory_of(int32_t value);

/// values[i], or values[0] for every i.
template <class T>
T at(const std::vector<T>& values, int64_t i) {
  return values[values.size() == 1 ? 0 : static_cast<size_t>(i)];
}

}  // namespace mlopt::cpu
