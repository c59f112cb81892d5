// Resize and Upsample with constant sizes, one axis after the other: every output position is a weighted sum of a few
// input positions, or one of them, found once.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/middle.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/strided.h"
#include "core/base/align.h"
#include "core/base/parallel.h"
#include "core/ir/resize_plan.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kGrain = 8192;  // elements below which a second thread costs more than it brings

/// How one axis is resized, and where that lies.
struct Filter : ResizeFilter {
  Middle around;  ///< the axis in memory, of what the filter reads
};

/// Row o of one [from, inner] block.
template <class T>
void blend_rows(const Filter& f, const T* in, T* out, int64_t o, int64_t inner) {
  const ResizeTap* taps = f.table.data() + static_cast<size_t>(o) * f.taps;
  if (f.taps == 1) std::copy_n(in + taps[0].place * inner, inner, out);
  if constexpr (std::is_same_v<T, float>) {
    if (f.taps == 1) return;
    affine(in + taps[0].place * inner, out, inner, taps[0].weight, 0);
    for (size_t k = 1; k < f.taps; ++k) add_scaled(out, in + taps[k].place * inner, inner, taps[k].weight);
  }
}

template <class T>
void blend_row(const Filter& f, const T* in, T* out) {
  const ResizeTap* tap = f.table.data();
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

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  auto resized = resize_plan(site.view, x.dims);
  if (!resized) return resized.error();
  if (resized->outside) return Decline{"parts of the input are shown"};
  const bool moves = resized->moves;
  const auto width = element_bytes(x.dtype);
  if (!width || (!moves && x.dtype != DType::kF32)) return Decline{"not float32"};
  TensorDesc out = x;
  out.dims = resized->out;
  PlannedStep step{.out = {out}};
  for (int i = 1; i < static_cast<int>(site.in.size()); ++i) step.packed.push_back(i);
  if (resized->filters.empty()) {
    step.view_of = 0;
    return step;
  }
  std::vector<Filter> filters;
  for (ResizeFilter& f : resized->filters) filters.push_back({std::move(f), {}});
  TensorDesc made = x;
  for (Filter& f : filters) {
    f.around = around(made.memory_dims(), memory_axis(made, f.axis));
    made.dims[f.axis] = f.to;
    if (&f != &filters.back()) step.scratch_bytes += made_by(f, *width);
  }
  step.run = [filters = std::move(filters), moves, width = *width](const Buffers& b) {
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
