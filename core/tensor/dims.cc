#include "core/tensor/dims.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/checked.h"
#include "core/base/error.h"

namespace mlopt {

int64_t element_count(const Dims& dims) {
  constexpr int64_t kMost = int64_t{1} << 48;
  int64_t count = 1;
  bool empty = false;
  for (const int64_t d : dims) {
    if (d < 0) input_error("negative dimension", to_string(dims));
    if (d == 0) empty = true;
    const auto product = checked_mul(count, d == 0 ? 1 : d);
    if (!product || *product > kMost)
      input_error("tensor too large", to_string(dims), "its element count exceeds 2^48");
    count = *product;
  }
  return empty ? 0 : count;
}

std::string to_string(const Dims& dims) {
  if (dims.empty()) return "scalar";
  std::string text;
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? "x" : "") + std::to_string(dims[i]);
  return text;
}

Dims row_major_strides(const Dims& dims) {
  Dims strides(dims.size());
  int64_t step = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = step;
    step *= dims[i];
  }
  return strides;
}

int normalize_axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) input_error("axis out of range", fmt::format("axis {} of rank {}", axis, rank));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Dims broadcast(const Dims& a, const Dims& b) {
  Dims out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      input_error("shapes do not broadcast", fmt::format("{} and {}", to_string(a), to_string(b)));
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

}  // namespace mlopt
