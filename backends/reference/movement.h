#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backends/reference/compute.h"
#include "core/base/error.h"

namespace mlopt::reference {

/// axis_of() of each; fails when one is repeated.
std::vector<int> axes_of(const Call& call, std::span<const int64_t> axes, int64_t rank);

/// The element types of 16 bytes or fewer as plain bytes, for kernels that only move elements.
struct Bytes16 {
  uint64_t low, high;
};

/// Calls fn(T{}) with a plain type T of `width` bytes (1, 2, 4, 8 or 16).
template <class Fn>
void by_width(size_t width, const Fn& fn) {
  switch (width) {
    case 1:
      return fn(uint8_t{});
    case 2:
      return fn(uint16_t{});
    case 4:
      return fn(uint32_t{});
    case 8:
      return fn(uint64_t{});
    case 16:
      return fn(Bytes16{});
    default:
      internal_error("by_width: no element has this width");
  }
}

/// Makes tensors of one type movable by bytes: elements narrower than a byte get a byte each, strings become numbers in
/// a table. Open what is read, fill a tensor from blank() or zeros(), close what is to be handed on.
class ElementCodec {
 public:
  explicit ElementCodec(DType type);

  /// Bytes of an opened element: 1, 2, 4, 8 or 16.
  size_t width() const { return width_; }
  /// As many elements, each width() bytes; shares the bytes when nothing needs to change.
  Tensor open(const Tensor& tensor);
  Tensor blank(Dims dims) const { return Tensor(opened_, std::move(dims)); }
  /// Filled with the type's zero (empty strings).
  Tensor zeros(Dims dims) const { return Tensor::zeros(opened_, std::move(dims)); }
  Tensor close(Tensor opened) const;

 private:
  DType type_, opened_;
  size_t width_;
  std::vector<std::string> table_;
};

/// Copies element by element over the index space `dims`; each side has strides in elements (0 repeats, negative goes
/// back) from its first element. The places written must be distinct.
void copy_strided(const Dims& dims, size_t width, const std::byte* from, std::span<const int64_t> from_strides,
                  std::byte* to, std::span<const int64_t> to_strides);

/// The elements that `strides` from `offset` address in `tensor`, as a dense tensor of shape `dims`.
Tensor gather_strided(const Tensor& tensor, const Dims& dims, std::span<const int64_t> strides, int64_t offset = 0);

/// Element (i, j, ...) of the opened tensor at (maps[0][i], maps[1][j], ...), one map for each axis; where a map says
/// -1, `fill` (one opened element; null: a map never says so).
Tensor gather_mapped(const ElementCodec& codec, const Tensor& opened, const std::vector<std::vector<int64_t>>& maps,
                     const std::byte* fill = nullptr);

}  // namespace mlopt::reference
