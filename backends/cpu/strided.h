#pragma once
#include <optional>
#include <vector>

#include "core/exec/kernel.h"

namespace mlopt::cpu {

/// Bytes of an element that can be moved by itself (1, 2, 4, 8 or 16); nothing where several share a byte.
std::optional<size_t> element_bytes(DType type);

/// A copy between two ways to lie in memory, prepared once: axes that both sides step through alike are merged, and
/// those of the target are walked in the order in which they lie there; where source and target have their elements
/// side by side along different axes, these two are walked in tiles that are transposed in registers.
class StridedCopy {
 public:
  StridedCopy() = default;
  /// Over the index space `dims`, whose places in the target are distinct. Strides are in elements of `width` bytes, in
  /// the source 0 where it repeats and negative where it goes back.
  StridedCopy(size_t width, const Dims& dims, const Dims& from, const Dims& to);

  void run(const std::byte* from, std::byte* to) const;
  /// The source's bytes are the target's, from the same address on.
  bool is_nothing() const;
  /// It walks tiles, which is several times the speed of oneDNN's copies; these are faster for other short lines.
  bool is_tiled() const { return tiled_; }

 private:
  struct Axis {
    int64_t count, from, to;
  };
  struct Place {
    int64_t from, to;
  };
  /// Moves the axis along which the source's elements lie side by side to the last but one, if tiles serve.
  bool find_tiles();
  /// Of the first `axes` axes: how many elements they have, and where that of an index begins.
  int64_t count(size_t axes) const;
  Place place(int64_t index, size_t axes) const;
  template <class T>
  void copy_lines(const T* from, T* to) const;
  template <class T>
  void copy_tiles(const T* from, T* to) const;

  size_t width_ = 1;
  std::vector<Axis> axes_;  ///< outermost first, at least one
  bool tiled_ = false;      ///< the last two axes are walked in tiles
};

/// Calls fn(T{}) with a plain type of `width` bytes.
template <class Fn>
void by_width(size_t width, const Fn& fn) {
  struct Bytes16 {
    uint64_t low, high;
  };
  if (width == 1) return fn(uint8_t{});
  if (width == 2) return fn(uint16_t{});
  if (width == 4) return fn(uint32_t{});
  if (width == 8) return fn(uint64_t{});
  fn(Bytes16{});
}

/// Finishes a step whose output is what `copy` takes from input 0, `offset` bytes behind its start: a view of it where
/// that changes nothing.
PlannedStep view_or_copy(PlannedStep step, const StridedCopy& copy, int64_t offset);

}  // namespace mlopt::cpu
