// Gather, as copies of whole rows: a view or one strided copy where the places are constant and in order.
#include <cstring>
#include <utility>

#include "backends/cpu/kernels.h"
#include "backends/cpu/middle.h"
#include "backends/cpu/places.h"
#include "backends/cpu/strided.h"
#include "core/base/parallel.h"
#include "core/tensor/cast.h"

namespace mlopt::cpu {
namespace {

/// [outer, length, inner] of which `count` places are taken: [outer, count, inner].
struct Rows {
  Middle data;
  int64_t count;
  size_t width;
};

/// Throws Error{kBadInput} for places that are not on the axis.
template <class Index>
void check_places(const Index* places, int64_t count, int64_t length) {
  for (int64_t i = 0; i < count; ++i) place_on_axis(places[i], length);
}

/// Places count from the end where negative.
template <class T, class Index>
void gather(const Rows& r, const T* from, const Index* places, T* to) {
  constexpr int64_t kGrain = 65536;  // bytes below which a second thread costs more than it brings
  const int64_t inner = r.data.inner, row_bytes = inner * static_cast<int64_t>(sizeof(T));
  const auto place = [&](int64_t i) { return places[i] + (places[i] < 0 ? r.data.length : 0); };
  parallel_for(r.data.outer * r.count, std::max<int64_t>(1, kGrain / row_bytes), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const T* row = from + (k / r.count * r.data.length + place(k % r.count)) * inner;
      if (inner == 1)
        to[k] = *row;
      else
        std::memcpy(to + k * inner, row, static_cast<size_t>(row_bytes));
    }
  });
}

template <class Index>
void gather(const Rows& r, const std::byte* from, const Index* places, std::byte* to) {
  by_width(r.width, [&](auto sample) {
    using T = decltype(sample);
    gather(r, reinterpret_cast<const T*>(from), places, reinterpret_cast<T*>(to));
  });
}

/// Places that step through two axes of the data, as [0, 3, 1, 4, 2, 5]: what shuffles channels.
struct Turned {
  int64_t slow = 1, fast = 1;  ///< counts
  int64_t first = 0, slow_step = 1, fast_step = 1;
};

std::optional<Turned> turned(const std::vector<int64_t>& places) {
  const auto count = static_cast<int64_t>(places.size());
  Turned t{1, count, places[0], 1, count > 1 ? places[1] - places[0] : 1};
  for (int64_t i = 2; i < count && t.fast == count; ++i)
    if (places[static_cast<size_t>(i)] - places[static_cast<size_t>(i) - 1] != t.fast_step) t.fast = i;
  if (count % t.fast != 0) return std::nullopt;
  t.slow = count / t.fast;
  if (t.slow > 1) t.slow_step = places[static_cast<size_t>(t.fast)] - places[0];
  for (int64_t i = 0; i < count; ++i)
    if (places[static_cast<size_t>(i)] != t.first + i / t.fast * t.slow_step + i % t.fast * t.fast_step)
      return std::nullopt;
  return t;
}

StridedCopy copy_of(const Turned& t, const Rows& r) {
  const int64_t inner = r.data.inner;
  return {r.width,
          {r.data.outer, t.slow, t.fast, inner},
          {r.data.length * inner, t.slow_step * inner, t.fast_step * inner, 1},
          {r.count * inner, t.fast * inner, inner, 1}};
}

/// Finishes the step for places that are known.
Expected<PlannedStep> with_places(PlannedStep step, const Rows& r, std::vector<int64_t> places) {
  for (int64_t& place : places) {
    if (place < -r.data.length || place >= r.data.length) return Decline{"an index is outside"};
    if (place < 0) place += r.data.length;
  }
  step.packed = {1};
  if (const auto t = turned(places)) {
    const int64_t offset = t->first * r.data.inner * static_cast<int64_t>(r.width);
    return view_or_copy(std::move(step), copy_of(*t, r), offset);
  }
  step.run = [r, places = std::move(places)](const Buffers& b) {
    gather(r, b.in<std::byte>(0), places.data(), b.out<std::byte>(0));
  };
  return step;
}

template <class Index>
PlannedStep with_input(PlannedStep step, const Rows& r) {
  step.run = [r](const Buffers& b) {
    check_places(b.in<Index>(1), r.count, r.data.length);
    gather(r, b.in<std::byte>(0), b.in<Index>(1), b.out<std::byte>(0));
  };
  return step;
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc &x = site.desc(0), &places = site.desc(1);
  const auto width = element_bytes(x.dtype);
  if (!width || x.dims.empty()) return Decline{"a scalar, or elements of less than a byte"};
  if (places.dtype != DType::kI32 && places.dtype != DType::kI64) return Decline{"not indices"};
  const bool same_rank = places.dims.size() == 1;
  if (!places.is_any_layout() || (x.layout != mlopt::Layout::kRowMajor && !same_rank))
    return Decline{"axes come or go"};
  const auto axis =
      static_cast<size_t>(normalize_axis(site.view.get_int("axis", 0), static_cast<int64_t>(x.dims.size())));
  TensorDesc out = x;
  out.dims.erase(out.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  out.dims.insert(out.dims.begin() + static_cast<std::ptrdiff_t>(axis), places.dims.begin(), places.dims.end());
  const Rows rows{around(x.memory_dims(), memory_axis(x, axis)), places.size(), *width};
  PlannedStep step{.out = {std::move(out)}};
  if (const Tensor* constant = site.view.constant(1)) return with_places(std::move(step), rows, to_ints(*constant));
  if (places.dtype == DType::kI32) return with_input<int32_t>(std::move(step), rows);
  return with_input<int64_t>(std::move(step), rows);
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Gather", .plan = plan, .layout = LayoutRule::kAny, .bf16 = passes_first}};

}  // namespace

std::span<const Kernel> gather_kernels() { return kKernels; }

}  // namespace mlopt::cpu
