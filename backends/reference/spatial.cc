#include "backends/reference/spatial.h"

#include <fmt/core.h>

#include "backends/reference/compute.h"

namespace mlopt::reference {
namespace {

// Far beyond any tensor, and small enough that products of two never overflow.
constexpr int64_t kLargest = int64_t{1} << 30;

int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Output length with explicit padding.
int64_t explicit_length(const Call& call, const Window& w, size_t i, bool ceil_mode) {
  const int64_t room = w.in[i] + w.begin[i] + w.end[i] - w.extent(i);
  if (room < 0 && (!ceil_mode || room <= -w.stride[i]))  // rounded up, a window may reach over the end
    fail(call, fmt::format("a window of {} does not fit {} elements with padding {} + {}", w.extent(i), w.in[i],
                           w.begin[i], w.end[i]));
  if (!ceil_mode) return room / w.stride[i] + 1;
  const int64_t length = ceil_divide(room, w.stride[i]) + 1;
  // A window that starts in the padding at the end is left out.
  return (length - 1) * w.stride[i] >= w.in[i] + w.begin[i] ? length - 1 : length;
}

void pad_to_same(Window& w, size_t i, bool more_at_end) {
  w.out[i] = ceil_divide(w.in[i], w.stride[i]);
  const int64_t total = std::max<int64_t>(0, (w.out[i] - 1) * w.stride[i] + w.extent(i) - w.in[i]);
  w.begin[i] = more_at_end ? total / 2 : total - total / 2;
  w.end[i] = total - w.begin[i];
}

}  // namespace

Dims spatial_attribute(const Call& call, const char* attr, size_t rank, int64_t otherwise, int64_t least) {
  Dims values = call.view.get_ints(attr, Dims(rank, otherwise));
  if (values.size() != rank)
    fail(call, fmt::format("{} has {} entries for {} spatial axes", attr, values.size(), rank));
  for (const int64_t v : values)
    if (v < least || v > kLargest) fail(call, fmt::format("{} holds {}", attr, v));
  return values;
}

Window sliding_window(const Call& call, const Dims& input, Dims kernel) {
  if (input.size() < 3) fail(call, fmt::format("an input of shape {} has no spatial axes", to_string(input)));
  Window w;
  w.in.assign(input.begin() + 2, input.end());
  const size_t rank = w.in.size();
  if (kernel.size() != rank) fail(call, fmt::format("the kernel has {} axes, the input {}", kernel.size(), rank));
  for (const int64_t k : kernel)
    if (k < 1 || k > kLargest) fail(call, fmt::format("kernel of size {}", k));
  w.kernel = std::move(kernel);
  w.stride = spatial_attribute(call, "strides", rank, 1, 1);
  w.dilation = spatial_attribute(call, "dilations", rank, 1, 1);
  w.out = w.begin = w.end = Dims(rank, 0);
  const std::string mode = call.view.get_string("auto_pad", "NOTSET");
  if (mode == "NOTSET" || mode.empty()) {
    const Dims pads = spatial_attribute(call, "pads", 2 * rank, 0, -kLargest);
    w.begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
    w.end.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
  }
  const bool ceil_mode = call.view.get_int("ceil_mode", 0) != 0;
  for (size_t i = 0; i < rank; ++i) {
    if (mode == "SAME_UPPER" || mode == "SAME_LOWER")
      pad_to_same(w, i, mode == "SAME_UPPER");
    else if (mode == "VALID" || mode == "NOTSET" || mode.empty())
      w.out[i] = explicit_length(call, w, i, ceil_mode);
    else
      fail(call, fmt::format("unknown auto_pad '{}'", mode));
  }
  return w;
}

}  // namespace mlopt::reference
