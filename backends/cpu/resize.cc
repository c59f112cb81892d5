// Resize and Upsample with constant sizes, one axis after the other: every output position is a weighted sum of a few
// input positions, or one of them, found once.
#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/middle.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/strided.h"
#include "core/base/align.h"
#include "core/base/parallel.h"
#include "core/tensor/cast.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kGrain = 8192;  // elements below which a second thread costs more than it brings

struct Tap {
  int64_t place;
  float weight;
};

/// How one axis is resized: `taps` neighbours for each output position.
struct Filter {
  size_t axis = 0;  ///< of ONNX's order
  int64_t from = 1, to = 1;
  size_t taps = 1;
  std::vector<Tap> table;  ///< [to][taps]
  Middle around;           ///< the axis in memory, of what the filter reads
};

struct Options {
  std::string mode, coordinates = "asymmetric", nearest = "floor";
  double cubic_a = -0.75;
};

/// The place in the input that output position `x` shows; nothing for modes that the reference kernel has.
std::optional<double> source(const Options& o, double x, double from, double to, double scale) {
  const double out = scale * from;
  if (o.coordinates == "asymmetric") return x / scale;
  if (o.coordinates == "half_pixel") return (x + 0.5) / scale - 0.5;
  if (o.coordinates == "align_corners") return out == 1 ? 0 : x * (from - 1) / (out - 1);
  if (o.coordinates == "pytorch_half_pixel") return out == 1 ? -0.5 : (x + 0.5) / scale - 0.5;
  if (o.coordinates == "half_pixel_symmetric") return from / 2 * (1 - to / out) + (x + 0.5) / scale - 0.5;
  return std::nullopt;
}

std::optional<double> nearest_of(const Options& o, double x) {
  const double low = std::floor(x);
  if (o.nearest == "floor") return low;
  if (o.nearest == "ceil") return std::ceil(x);
  if (o.nearest == "round_prefer_floor") return x - low <= 0.5 ? low : low + 1;
  if (o.nearest == "round_prefer_ceil") return x - low < 0.5 ? low : low + 1;
  return std::nullopt;
}

/// Keys' cubic kernel (Keys 1981).
double cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? a * (((x - 5) * x + 8) * x - 4) : 0;
}

/// Fills the filter's table; false for modes that the reference kernel has.
bool fill(Filter& f, const Options& o, double scale) {
  f.taps = o.mode == "nearest" ? 1 : o.mode == "cubic" ? 4 : 2;
  const auto tap = [&](double place, double weight) {
    f.table.push_back(
        {static_cast<int64_t>(std::clamp(place, 0.0, static_cast<double>(f.from - 1))), static_cast<float>(weight)});
  };
  for (int64_t i = 0; i < f.to; ++i) {
    const auto x = source(o, static_cast<double>(i), static_cast<double>(f.from), static_cast<double>(f.to), scale);
    if (!x) return false;
    const double low = std::floor(*x), rest = *x - low;
    if (f.taps == 1) {
      const auto place = nearest_of(o, *x);
      if (!place) return false;
      tap(*place, 1);
    } else if (f.taps == 2) {
      tap(low, 1 - rest);
      tap(low + 1, rest);
    } else {
      for (int k = -1; k <= 2; ++k) tap(low + k, cubic(rest - k, o.cubic_a));
    }
  }
  return true;
}

/// Row o of one [from, inner] block.
template <class T>
void blend_rows(const Filter& f, const T* in, T* out, int64_t o, int64_t inner) {
  const Tap* taps = f.table.data() + static_cast<size_t>(o) * f.taps;
  if (f.taps == 1) std::copy_n(in + taps[0].place * inner, inner, out);
  if constexpr (std::is_same_v<T, float>) {
    if (f.taps == 1) return;
    affine(in + taps[0].place * inner, out, inner, taps[0].weight, 0);
    for (size_t k = 1; k < f.taps; ++k) add_scaled(out, in + taps[k].place * inner, inner, taps[k].weight);
  }
}

template <class T>
void blend_row(const Filter& f, const T* in, T* out) {
  const Tap* tap = f.table.data();
  if (f.taps == 1)
    for (int64_t o = 0; o < f.to; ++o) out[o] = in[tap[o].place];
  if constexpr (std::is_same_v<T, float>) {
    if (f.taps == 1) return;
    for (int64_t o = 0; o < f.to; ++o) {
      float sum = in[tap->place] * tap->weight;
      ++tap;
      for (size_t k = 1; k < f.taps; ++k, ++tap) sum += in[tap->place] * tap->weight;
      out[o] = sum;
    }
  }
}

template <class T>
void apply_filter(const Filter& f, const T* in, T* out) {
  const Middle& m = f.around;
  if (m.inner == 1) {
    parallel_for(m.outer, std::max<int64_t>(1, kGrain / f.to), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) blend_row(f, in + i * f.from, out + i * f.to);
    });
    return;
  }
  parallel_for(m.outer * f.to, std::max<int64_t>(1, kGrain / m.inner), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      blend_rows(f, in + i / f.to * f.from * m.inner, out + i * m.inner, i % f.to, m.inner);
  });
}

size_t made_by(const Filter& f, size_t width) {
  return aligned_size(static_cast<size_t>(f.around.outer * f.to * f.around.inner) * width);
}

/// One filter after the other; what lies between is kept in the scratch.
template <class T>
void run(const std::vector<Filter>& filters, const Buffers& b) {
  const T* from = b.in<T>(0);
  std::byte* next = b.scratch;
  for (size_t i = 0; i < filters.size(); ++i) {
    T* to = i + 1 == filters.size() ? b.out<T>(0) : reinterpret_cast<T*>(next);
    apply_filter(filters[i], from, to);
    next += made_by(filters[i], sizeof(T));
    from = to;
  }
}

/// What the node asks for: scales or lengths for some axes.
struct Asked {
  std::vector<float> scales;
  std::vector<int64_t> lengths, axes;
  Options options;
};

Expected<Asked> asked_of(const NodeView& view) {
  const bool upsample = view.node().op == "Upsample", old = upsample || view.opset() < 11;
  const Tensor *scales = view.constant(old ? 1 : 2), *lengths = old ? nullptr : view.constant(3);
  Asked asked;
  if (upsample && view.has("scales"))
    asked.scales = view.get_floats("scales");
  else if (scales && scales->size() > 0)
    asked.scales = to_floats(*scales);
  else if (lengths && (!view.node().input(2) || (scales && scales->size() == 0)))
    asked.lengths = to_ints(*lengths);
  else
    return Decline{"the sizes are not constant"};
  asked.axes = view.get_ints("axes");
  Options& o = asked.options;
  o.mode = view.get_string("mode", "nearest");
  if (o.mode == "bilinear") o.mode = "linear";
  if (o.mode != "nearest" && o.mode != "linear" && o.mode != "cubic") return Decline{"a rare mode"};
  if (old) return asked;
  o.coordinates = view.get_string("coordinate_transformation_mode", "half_pixel");
  o.nearest = view.get_string("nearest_mode", "round_prefer_floor");
  o.cubic_a = view.get_float("cubic_coeff_a", -0.75f);
  const bool plain = view.get_int("antialias", 0) == 0 && view.get_int("exclude_outside", 0) == 0;
  if (!plain || view.get_string("keep_aspect_ratio_policy", "stretch") != "stretch") return Decline{"a rare mode"};
  return asked;
}

/// The filters by axis of ONNX's order; `out` becomes the dims of the output.
Expected<std::vector<Filter>> filters_of(const Asked& asked, Dims& out) {
  const auto rank = static_cast<int64_t>(out.size());
  const size_t count = std::max(asked.scales.size(), asked.lengths.size());
  if (count != (asked.axes.empty() ? out.size() : asked.axes.size())) return Decline{"sizes do not fit the axes"};
  std::vector<Filter> filters;
  for (size_t i = 0; i < count; ++i) {
    const auto axis = asked.axes.empty() ? i : static_cast<size_t>(normalize_axis(asked.axes[i], rank));
    Filter f{axis, out[axis], out[axis], 1, {}, {}};
    const bool scaled = !asked.scales.empty();
    const double length =
        scaled ? std::floor(static_cast<float>(f.from) * asked.scales[i]) : static_cast<double>(asked.lengths[i]);
    if (!(length >= 1) || length > 1e7) return Decline{"an empty or impossible axis"};
    f.to = static_cast<int64_t>(length);
    out[axis] = f.to;
    const double scale = scaled ? static_cast<double>(asked.scales[i]) : length / static_cast<double>(f.from);
    if (scale == 1) continue;
    if (!fill(f, asked.options, scale)) return Decline{"a rare mode"};
    filters.push_back(std::move(f));
  }
  element_count(out);  // throws for sizes that no memory holds
  std::sort(filters.begin(), filters.end(),
            [](const Filter& a, const Filter& b) { return a.to * b.from < b.to * a.from; });
  return filters;
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto asked = asked_of(site.view);
  if (!asked) return asked.error();
  const bool moves = asked->options.mode == "nearest";
  const auto width = element_bytes(x.dtype);
  if (!width || (!moves && x.dtype != DType::kF32)) return Decline{"not float32"};
  TensorDesc out = x;
  auto filters = filters_of(*asked, out.dims);
  if (!filters) return filters.error();
  PlannedStep step{.out = {out}};
  for (int i = 1; i < static_cast<int>(site.in.size()); ++i) step.packed.push_back(i);
  if (filters->empty()) {
    step.view_of = 0;
    return step;
  }
  TensorDesc made = x;
  for (Filter& f : *filters) {
    f.around = around(made.memory_dims(), memory_axis(made, f.axis));
    made.dims[f.axis] = f.to;
    if (&f != &filters->back()) step.scratch_bytes += made_by(f, *width);
  }
  step.run = [filters = *std::move(filters), moves, width = *width](const Buffers& b) {
    if (!moves) return run<float>(filters, b);
    by_width(width, [&](auto sample) { run<decltype(sample)>(filters, b); });
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Resize", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Upsample", .plan = plan, .layout = LayoutRule::kFollows},
};

}  // namespace

std::span<const Kernel> resize_kernels() { return kKernels; }

}  // namespace mlopt::cpu
