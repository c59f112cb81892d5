#include "core/ir/reduced_axes.h"

namespace mlopt {

Expected<std::vector<bool>> reduced_axes(const NodeView& view, size_t rank) {
  const auto axes = view.ints("axes", 1);
  if (!axes) return Decline{"the axes are not constant"};
  std::vector<bool> reduced(rank, axes->empty() && view.get_int("noop_with_empty_axes", 0) == 0);
  for (const int64_t axis : *axes)
    reduced[static_cast<size_t>(normalize_axis(axis, static_cast<int64_t>(rank)))] = true;
  return reduced;
}

std::vector<Middle> reduction_groups(Dims dims, const std::vector<bool>& reduced) {
  std::vector<Middle> groups;
  for (size_t end = dims.size(); end > 0;) {
    size_t begin = end;
    while (begin > 0 && reduced[begin - 1]) --begin;
    if (begin == end) {
      --end;
      continue;
    }
    groups.push_back(around(dims, begin, end));
    for (size_t k = begin; k < end; ++k) dims[k] = 1;
    end = begin;
  }
  return groups;
}

}  // namespace mlopt
