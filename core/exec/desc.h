#pragma once
#include "core/tensor/dims.h"
#include "core/tensor/dtype.h"

namespace mlopt {

/// How the elements of a tensor lie in memory: as ONNX has them, or with axis 1, the channels, innermost (rank 3 and
/// above).
enum class Layout { kRowMajor, kChannelsLast };

/// A dense tensor as a plan knows it before it exists. `dims` are always in ONNX's order.
struct TensorDesc {
  DType dtype = DType::kUndefined;
  Dims dims;
  Layout layout = Layout::kRowMajor;

  int64_t size() const { return element_count(dims); }
  size_t bytes() const { return packed_bytes(dtype, size()); }
  /// In elements, for each axis of `dims`.
  Dims strides() const;
  /// The dims in the order in which they lie in memory.
  Dims memory_dims() const;
  /// The same tensor in another layout.
  TensorDesc in(Layout other) const { return {dtype, dims, other}; }
  /// Both layouts are the same bytes: one channel, or one position.
  bool is_any_layout() const;

  friend bool operator==(const TensorDesc&, const TensorDesc&) = default;
};

}  // namespace mlopt
