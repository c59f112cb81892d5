// GatherElements and ScatterElements: every index names an element of the axis at its own place on the other axes.
#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels.h"
#include "backends/cpu/middle.h"
#include "backends/cpu/places.h"
#include "backends/cpu/strided.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

struct Elements {
  Dims indices;          ///< dims of them
  Dims strides;          ///< of the data, 0 along the axis
  int64_t length, step;  ///< of the axis
  int64_t outer;         ///< indices before the axis: what these name never overlaps
  int64_t each;          ///< indices of one of them
  bool wide;             ///< they are int64

  /// Where in the data, but for the axis, index i lies.
  int64_t base(int64_t i) const {
    int64_t at = 0;
    for (size_t axis = indices.size(); axis-- > 0; i /= indices[axis]) at += i % indices[axis] * strides[axis];
    return at;
  }
};

/// fn(offset in the data, i) for the indices [begin, end), whole lines of the last axis.
template <class Index, class Fn>
void each_element(const Elements& e, const Index* indices, int64_t begin, int64_t end, const Fn& fn) {
  const int64_t line = e.indices.back(), along = e.strides.back();
  for (int64_t first = begin; first < end; first += line) {
    const int64_t base = e.base(first);
    for (int64_t k = 0; k < line; ++k) {
      fn(base + k * along + place_on_axis(indices[first + k], e.length) * e.step, first + k);
    }
  }
}

/// The same for all indices, shared among threads.
template <class Fn>
void each_element(const Elements& e, const Buffers& b, const Fn& fn) {
  constexpr int64_t kGrain = 8192;  // indices below which a second thread costs more than it brings
  parallel_for(e.outer, std::max<int64_t>(1, kGrain / e.each), [&](int64_t begin, int64_t end) {
    if (e.wide)
      each_element(e, b.in<int64_t>(1), begin * e.each, end * e.each, fn);
    else
      each_element(e, b.in<int32_t>(1), begin * e.each, end * e.each, fn);
  });
}

Expected<Elements> elements_of(const Site& site) {
  const TensorDesc &x = site.desc(0), &indices = site.desc(1);
  if (!element_bytes(x.dtype) || x.dims.empty() || x.dims.size() != indices.dims.size())
    return Decline{"a scalar, or elements of less than a byte"};
  if (indices.dtype != DType::kI32 && indices.dtype != DType::kI64) return Decline{"not indices"};
  if (indices.size() == 0 || x.size() == 0) return Decline{"nothing"};
  const auto axis =
      static_cast<size_t>(normalize_axis(site.view.get_int("axis", 0), static_cast<int64_t>(x.dims.size())));
  for (size_t k = 0; k < x.dims.size(); ++k)
    if (k != axis && indices.dims[k] > x.dims[k]) return Decline{"more indices than data"};
  Elements e{indices.dims, x.strides(), x.dims[axis], 0, 1, 1, indices.dtype == DType::kI64};
  e.step = std::exchange(e.strides[axis], 0);
  const Middle m = around(indices.dims, axis);
  e.outer = m.outer;
  e.each = m.length * m.inner;
  return e;
}

Expected<PlannedStep> plan_gather(const Site& site) {
  const auto e = elements_of(site);
  if (!e) return e.error();
  PlannedStep step{.out = {{site.desc(0).dtype, e->indices}}};
  step.run = [e = *e, width = *element_bytes(site.desc(0).dtype)](const Buffers& b) {
    by_width(width, [&](auto sample) {
      using T = decltype(sample);
      const T* from = b.in<T>(0);
      T* to = b.out<T>(0);
      each_element(e, b, [=](int64_t at, int64_t i) { to[i] = from[at]; });
    });
  };
  return step;
}

Expected<PlannedStep> plan_scatter(const Site& site) {
  const TensorDesc &x = site.desc(0), &updates = site.desc(2);
  const auto e = elements_of(site);
  if (!e) return e.error();
  if (updates.dtype != x.dtype || updates.dims != e->indices) return Decline{"the updates do not fit"};
  const std::string reduction = site.view.get_string("reduction", "none");
  if (reduction != "none" && (reduction != "add" || x.dtype != DType::kF32)) return Decline{"no such reduction"};
  PlannedStep step{.out = {x}};
  step.in_place = 0;
  step.run = [e = *e, adds = reduction == "add", width = *element_bytes(x.dtype),
              bytes = static_cast<size_t>(x.size()) * *element_bytes(x.dtype)](const Buffers& b) {
    if (b.out<std::byte>(0) != b.in<std::byte>(0)) std::memcpy(b.out<std::byte>(0), b.in<std::byte>(0), bytes);
    if (adds)
      return each_element(e, b,
                          [from = b.in<float>(2), to = b.out<float>(0)](int64_t at, int64_t i) { to[at] += from[i]; });
    by_width(width, [&](auto sample) {
      using T = decltype(sample);
      each_element(e, b, [from = b.in<T>(2), to = b.out<T>(0)](int64_t at, int64_t i) { to[at] = from[i]; });
    });
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "GatherElements", .plan = plan_gather},
    {.domain = "", .op = "ScatterElements", .plan = plan_scatter},
};

}  // namespace

std::span<const Kernel> elements_kernels() { return kKernels; }

}  // namespace mlopt::cpu
