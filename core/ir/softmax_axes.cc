#include "core/ir/softmax_axes.h"

namespace mlopt {

Middle softmax_axes(const NodeView& node, const Dims& x) {
  const bool old = node.opset() < 13;  // before, all axes from `axis` on are one
  const auto rank = static_cast<int64_t>(x.size());
  const int64_t axis = node.get_int("axis", old ? 1 : -1);
  // That of old opsets, where it is not given, lies behind the axis of a vector: each element is a row then.
  const auto at = static_cast<size_t>(old && axis == rank ? rank : normalize_axis(axis, rank));
  return around(x, at, old ? x.size() : at + 1);
}

}  // namespace mlopt
