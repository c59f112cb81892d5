#include "core/ir/fourier.h"

namespace mlopt {
namespace {

Expected<size_t> axis_of(const NodeView& dft, const Dims& x) {
  if (x.size() < 2) return Decline{"no axis"};
  const auto given = dft.opset() < 20 ? std::optional(std::vector{dft.get_int("axis", 1)}) : dft.ints("", 2, {-2});
  if (!given || given->size() != 1) return Decline{"its axis is not constant"};
  const auto axis = static_cast<size_t>(normalize_axis(given->front(), static_cast<int64_t>(x.size())));
  if (axis + 1 >= x.size()) return Decline{"the last axis holds the parts of numbers"};
  return axis;
}

}  // namespace

Expected<Fourier> fourier_of(const NodeView& dft, const Dims& x) {
  const auto axis = axis_of(dft, x);
  if (!axis) return axis.error();
  const bool onesided = dft.get_int("onesided", 0) != 0;
  Fourier f{.axis = *axis, .inverse = dft.get_int("inverse", 0) != 0};
  f.mirrored = f.inverse && onesided;
  f.in_count = x[*axis];
  f.in_parts = x.back();
  if (f.in_parts < 1 || f.in_parts > 2) return Decline{"the parts of its numbers"};
  if (onesided && !f.inverse && f.in_parts == 2) return Decline{"one half of a spectrum that has two"};
  const auto length = dft.ints("", 1, {f.mirrored ? 2 * (f.in_count - 1) : f.in_count});
  if (!length || length->size() != 1) return Decline{"its length is not constant"};
  f.length = length->front();
  if (f.length < 1) return Decline{"a transform of no length"};
  f.out_count = onesided && !f.inverse ? f.length / 2 + 1 : f.length;
  f.out_parts = f.mirrored ? 1 : 2;
  return f;
}

}  // namespace mlopt
