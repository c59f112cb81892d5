#include "core/ir/slice_span.h"

#include <algorithm>
#include <numeric>

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

Expected<std::vector<SliceSpan>> slice_spans(const NodeView& view, const Dims& dims) {
  const auto starts = view.ints("starts", 1), ends = view.ints("ends", 2);
  if (!starts || !ends || starts->size() != ends->size()) return Decline{"starts or ends are not constant"};
  Dims every(starts->size());
  std::iota(every.begin(), every.end(), 0);
  const auto axes = view.ints("axes", 3, every), steps = view.ints("steps", 4, Dims(starts->size(), 1));
  if (!axes || !steps || axes->size() != starts->size() || steps->size() != starts->size())
    return Decline{"axes or steps do not fit"};
  std::vector<SliceSpan> spans;
  for (const int64_t length : dims) spans.push_back({0, length, 1});
  std::vector<bool> seen(dims.size());
  for (size_t i = 0; i < axes->size(); ++i) {
    const auto axis = static_cast<size_t>(normalize_axis((*axes)[i], static_cast<int64_t>(dims.size())));
    if ((*steps)[i] == 0 || seen[axis]) return Decline{"a step is 0, or an axis is named twice"};
    seen[axis] = true;
    spans[axis] = slice_span(dims[axis], (*starts)[i], (*ends)[i], (*steps)[i]);
  }
  return spans;
}

}  // namespace mlopt
