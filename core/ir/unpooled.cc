#include "core/ir/unpooled.h"

namespace mlopt {
namespace {

constexpr int64_t kMost = int64_t{1} << 30;  // of a length, stride, pad, ...: products of two still fit

/// Integers of an attribute, one for each axis or side of one.
Expected<Dims> each(const NodeView& view, std::string_view attr, size_t count, int64_t otherwise, int64_t least) {
  Dims values = view.get_ints(attr, Dims(count, otherwise));
  if (values.size() != count) return Decline{"the window does not fit"};
  for (const int64_t v : values)
    if (v < least || v > kMost) return Decline{"an impossible window"};
  return values;
}

}  // namespace

Expected<Dims> unpooled(const NodeView& view, const Dims& pooled) {
  if (pooled.size() < 3 || !view.has("kernel_shape")) return Decline{"no spatial axes or no window"};
  const size_t axes = pooled.size() - 2;
  const auto kernel = each(view, "kernel_shape", axes, 1, 1), strides = each(view, "strides", axes, 1, 1),
             pads = each(view, "pads", 2 * axes, 0, 0);
  if (!kernel || !strides || !pads) return !kernel ? kernel.error() : !strides ? strides.error() : pads.error();
  Dims dims = pooled;
  for (size_t k = 0; k < axes; ++k) {
    if (pooled[k + 2] > kMost) return Decline{"an axis is too long"};
    dims[k + 2] = (pooled[k + 2] - 1) * (*strides)[k] + (*kernel)[k] - (*pads)[k] - (*pads)[k + axes];
    if (dims[k + 2] < 1) return Decline{"an empty picture"};
  }
  return dims;
}

}  // namespace mlopt
