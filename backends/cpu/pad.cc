// Pad with a constant, or with the input's own elements: reflected, wrapped or those of its edge. A map for each axis
// says where its positions come from.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/strided.h"
#include "core/base/parallel.h"
#include "core/tensor/cast.h"

namespace mlopt::cpu {
namespace {

/// One axis in the order of memory, its neighbours that are not padded merged into it.
struct Axis {
  int64_t from = 1;          ///< length in the input
  std::vector<int64_t> map;  ///< of each position of the output, -1: filled

  bool is_whole() const {
    for (size_t i = 0; i < map.size(); ++i)
      if (map[i] != static_cast<int64_t>(i)) return false;
    return static_cast<int64_t>(map.size()) == from;
  }
};

/// A row is what one position of the last padded axis holds.
struct Padding {
  std::vector<Axis> outer;
  Axis last;
  int64_t row = 1;        ///< elements
  int64_t run_first = 0;  ///< positions [run_first, run_end) of `last` lie side by side in the input
  int64_t run_end = 0;
};

int64_t modulo(int64_t place, int64_t period) { return ((place % period) + period) % period; }

/// Where the element at `place`, before or behind an axis, comes from.
int64_t source_of(int64_t place, int64_t length, const std::string& mode) {
  if (place >= 0 && place < length) return place;
  if (mode == "constant") return -1;
  if (mode == "edge") return std::clamp<int64_t>(place, 0, length - 1);
  if (mode == "wrap") return modulo(place, length);
  if (length == 1) return 0;
  const int64_t period = 2 * (length - 1), folded = modulo(place, period);
  return folded < length ? folded : period - folded;
}

Padding padding_of(std::vector<Axis> axes) {
  Padding p;
  while (axes.size() > 1 && axes.back().is_whole()) {
    p.row *= axes.back().from;
    axes.pop_back();
  }
  p.last = std::move(axes.back());
  axes.pop_back();
  p.outer = std::move(axes);
  const std::vector<int64_t>& map = p.last.map;
  const auto on_input = [](int64_t place) { return place >= 0; };
  auto first = std::find_if(map.begin(), map.end(), on_input);
  for (auto it = first; it != map.end(); ++it)  // reflected ones go backwards until the run begins
    if (*it == 0) first = it;
  p.run_first = p.run_end = first - map.begin();
  while (p.run_end < static_cast<int64_t>(map.size()) &&
         map[static_cast<size_t>(p.run_end)] == map[static_cast<size_t>(p.run_first)] + p.run_end - p.run_first)
    ++p.run_end;
  return p;
}

/// One line along the last padded axis; a null `from` is filled whole.
template <class T>
void pad_line(const Padding& p, const T* from, T* to, T fill) {
  const auto count = static_cast<int64_t>(p.last.map.size());
  if (!from) {
    std::fill_n(to, count * p.row, fill);
    return;
  }
  const auto fetch = [&](int64_t i) {
    const int64_t place = p.last.map[static_cast<size_t>(i)];
    if (place < 0)
      std::fill_n(to + i * p.row, p.row, fill);
    else
      std::copy_n(from + place * p.row, p.row, to + i * p.row);
  };
  for (int64_t i = 0; i < p.run_first; ++i) fetch(i);
  if (p.run_end > p.run_first)
    std::copy_n(from + p.last.map[static_cast<size_t>(p.run_first)] * p.row, (p.run_end - p.run_first) * p.row,
                to + p.run_first * p.row);
  for (int64_t i = p.run_end; i < count; ++i) fetch(i);
}

template <class T>
void pad(const Padding& p, const T* from, T* to, T fill) {
  constexpr int64_t kGrain = 32768;  // elements below which a second thread costs more than it brings
  int64_t lines = 1;
  for (const Axis& a : p.outer) lines *= static_cast<int64_t>(a.map.size());
  const int64_t line = static_cast<int64_t>(p.last.map.size()) * p.row;
  parallel_for(lines, std::max<int64_t>(1, kGrain / line), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      int64_t rest = k, at = 0, step = p.last.from * p.row;
      bool filled = false;
      for (size_t axis = p.outer.size(); axis-- > 0; step *= p.outer[axis].from) {
        const std::vector<int64_t>& map = p.outer[axis].map;
        const int64_t place = map[static_cast<size_t>(rest) % map.size()];
        rest /= static_cast<int64_t>(map.size());
        filled |= place < 0;
        at += place * step;
      }
      pad_line(p, filled ? nullptr : from + at, to + k * line, fill);
    }
  });
}

/// The axes in ONNX's order.
Expected<std::vector<Axis>> axes_of(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const std::string mode = site.view.get_string("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap") return Decline{"an unknown mode"};
  const auto pads = site.view.ints(site.view.has("paddings") ? "paddings" : "pads", 1);
  Dims every(x.dims.size());
  for (size_t i = 0; i < every.size(); ++i) every[i] = static_cast<int64_t>(i);
  const Tensor* given = site.view.constant(3);
  const Dims wanted = given ? to_ints(*given) : every;
  if (!pads || (site.has(3) && !given) || pads->size() != 2 * wanted.size())
    return Decline{"the pads are not constant, or do not fit"};
  Dims begin(x.dims.size(), 0), end(x.dims.size(), 0);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto axis = static_cast<size_t>(normalize_axis(wanted[i], static_cast<int64_t>(x.dims.size())));
    begin[axis] = (*pads)[i];
    end[axis] = (*pads)[i + wanted.size()];
  }
  std::vector<Axis> axes;
  for (size_t k = 0; k < x.dims.size(); ++k) {
    constexpr int64_t kMost = int64_t{1} << 40;
    const int64_t length = x.dims[k];
    if (std::abs(begin[k]) > kMost || std::abs(end[k]) > kMost || length + begin[k] + end[k] < 1)
      return Decline{"an empty or impossible axis"};
    Axis axis{length, std::vector<int64_t>(static_cast<size_t>(element_count({length + begin[k] + end[k]})))};
    for (size_t i = 0; i < axis.map.size(); ++i)
      axis.map[i] = source_of(static_cast<int64_t>(i) - begin[k], length, mode);
    axes.push_back(std::move(axis));
  }
  return axes;
}

/// Reads the element that fills: input 2, an attribute, or zero.
Expected<Tensor> fill_of(const Site& site) {
  const DType type = site.desc(0).dtype;
  if (!site.has(2)) return cast(Tensor::scalar(site.view.get_float("value", 0)), type);
  const Tensor* given = site.view.constant(2);
  if (!given || given->dtype() != type || given->size() != 1) return Decline{"what fills is not constant"};
  return given->aligned();
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto width = element_bytes(x.dtype);
  if (!width || x.dims.empty()) return Decline{"a scalar, or elements of less than a byte"};
  auto axes = axes_of(site);
  if (!axes) return axes.error();
  const auto fill = fill_of(site);
  if (!fill) return fill.error();
  TensorDesc out = x;
  for (size_t k = 0; k < axes->size(); ++k) out.dims[k] = static_cast<int64_t>((*axes)[k].map.size());
  element_count(out.dims);  // throws for sizes that no memory holds
  if (x.layout == mlopt::Layout::kChannelsLast) std::rotate(axes->begin() + 1, axes->begin() + 2, axes->end());
  PlannedStep step{.out = {std::move(out)}};
  for (int i = 1; i < static_cast<int>(site.in.size()); ++i) step.packed.push_back(i);
  step.run = [p = padding_of(std::move(*axes)), fill = *fill, width = *width](const Buffers& b) {
    by_width(width, [&](auto sample) {
      using T = decltype(sample);
      T element;
      std::memcpy(&element, fill.raw(), sizeof(T));
      pad(p, b.in<T>(0), b.out<T>(0), element);
    });
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "Pad", .plan = plan, .layout = LayoutRule::kFollows}};

}  // namespace

std::span<const Kernel> pad_kernels() { return kKernels; }

}  // namespace mlopt::cpu
