#include "core/ir/slice_span.h"

#include <algorithm>

namespace mlopt {

SliceSpan slice_span(int64_t length, int64_t start, int64_t end, int64_t step) {
  if (length == 0) return {};
  const auto place = [length](int64_t index, int64_t low, int64_t high) {
    if (index < 0) index = index < -length ? -1 : index + length;
    return std::clamp(index, low, high);
  };
  const bool forward = step > 0;
  const int64_t first = forward ? place(start, 0, length) : place(start, 0, length - 1);
  const int64_t distance = forward ? place(end, 0, length) - first : first - place(end, -1, length - 1);
  if (distance <= 0) return {};
  const uint64_t stride = forward ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  const auto count = static_cast<int64_t>((static_cast<uint64_t>(distance) - 1) / stride) + 1;
  return {first, count, count == 1 ? 1 : step};
}

}  // namespace mlopt
