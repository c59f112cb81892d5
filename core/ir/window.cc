#include "core/ir/window.h"

#include <algorithm>
#include <string>

namespace mlopt {
namespace {

/// No window or padding is this large; keeps the sums below free of overflow, and buffers small.
constexpr int64_t kMost = int64_t{1} << 24;

bool all_within(const Dims& values, size_t count, int64_t low) {
  return values.size() == count &&
         std::all_of(values.begin(), values.end(), [&](int64_t v) { return v >= low && v < kMost; });
}

/// SAME padding: as many positions as strides fit into the input, the odd element after (upper) or before (lower).
void pad_same(Window& w, const Dims& spatial, bool lower) {
  for (size_t i = 0; i < spatial.size(); ++i) {
    const int64_t count = (spatial[i] + w.strides[i] - 1) / w.strides[i];
    const int64_t total = std::max<int64_t>(0, (count - 1) * w.strides[i] + w.extent(i) - spatial[i]);
    w.begin[i] = lower ? total - total / 2 : total / 2;
    w.end[i] = total - w.begin[i];
  }
}

}  // namespace

Dims Window::gaps() const {
  Dims g = dilations;
  for (int64_t& d : g) --d;
  return g;
}

bool Window::is_point() const {
  const auto all = [](const Dims& v, int64_t x) {
    return std::all_of(v.begin(), v.end(), [x](int64_t d) { return d == x; });
  };
  return all(kernel, 1) && all(begin, 0) && all(end, 0);
}

Expected<Window> window_over(const NodeView& view, const Dims& spatial, const Dims& kernel) {
  const size_t rank = spatial.size();
  const Dims ones(rank, 1);
  Window w{kernel, view.get_ints("strides", ones), view.get_ints("dilations", ones), Dims(rank, 0), Dims(rank, 0)};
  if (!all_within(w.kernel, rank, 1) || !all_within(w.strides, rank, 1) || !all_within(w.dilations, rank, 1))
    return Decline{"kernel, strides or dilations do not fit the input"};
  for (size_t i = 0; i < rank; ++i)
    if (w.extent(i) >= kMost) return Decline{"the dilated kernel is too large"};
  const std::string mode = view.get_string("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    pad_same(w, spatial, mode == "SAME_LOWER");
  } else if (mode == "NOTSET") {
    const Dims pads = view.get_ints("pads", Dims(2 * rank, 0));
    if (!all_within(pads, 2 * rank, 0)) return Decline{"pads are negative or do not fit the input"};
    const auto half = pads.begin() + static_cast<std::ptrdiff_t>(rank);
    w.begin.assign(pads.begin(), half);
    w.end.assign(half, pads.end());
  } else if (mode != "VALID") {
    return Decline{"auto_pad is none of the standard's"};
  }
  return w;
}

Expected<Dims> positions(const Window& w, const Dims& spatial, bool ceil_mode) {
  Dims count(spatial.size());
  for (size_t i = 0; i < spatial.size(); ++i) {
    const int64_t room = spatial[i] + w.begin[i] + w.end[i] - w.extent(i);
    // Rounded up, one that reaches over the end by less than a stride has a place.
    if (room < 0 && (!ceil_mode || room <= -w.strides[i])) return Decline{"the window is larger than the padded input"};
    count[i] = (room + (ceil_mode ? w.strides[i] - 1 : 0)) / w.strides[i] + 1;
    // A last position that would begin in the padding after the input does not count.
    if (ceil_mode && (count[i] - 1) * w.strides[i] >= spatial[i] + w.begin[i]) --count[i];
  }
  return count;
}

Expected<Dims> transposed_positions(const NodeView& view, const Dims& in, Window& w) {
  const size_t rank = in.size();
  const Dims extra = view.get_ints("output_padding", Dims(rank, 0));
  Dims asked = view.get_ints("output_shape");
  if (asked.size() == rank + 2) asked.erase(asked.begin(), asked.begin() + 2);
  if (extra.size() != rank || (!asked.empty() && asked.size() != rank)) return Decline{"attributes do not fit"};
  const std::string mode = view.get_string("auto_pad", "NOTSET");
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  Dims out(rank);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t reach = (in[i] - 1) * w.strides[i] + w.extent(i);
    if (asked.empty() && !same) {
      out[i] = reach + extra[i] - w.begin[i] - w.end[i];
    } else {
      out[i] = asked.empty() ? in[i] * w.strides[i] : asked[i];
      const int64_t total = std::max<int64_t>(0, reach + extra[i] - out[i]);
      w.begin[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
    }
    w.end[i] = reach - w.begin[i] - out[i];  // negative where output_padding adds elements that no tap reaches
    if (extra[i] < 0 || out[i] < 1) return Decline{"an empty output"};
  }
  return out;
}

}  // namespace mlopt
