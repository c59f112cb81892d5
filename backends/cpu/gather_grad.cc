// The gradient of Gather: each row of dy is added where it was taken from.
#include <algorithm>

#include "backends/cpu/kernels.h"
#include "backends/cpu/middle.h"
#include "backends/cpu/rows.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

/// Rows of `inner` elements, `count` of them for each of the outer ones, were taken of [outer, length, inner].
struct Rows {
  Middle data;
  int64_t count;
};

void add(float* to, const float* from, int64_t n) {
  constexpr int64_t kShort = 16;  // as long as a call takes
  if (n > kShort) return fold(Fold::kSum, to, from, n);
  for (int64_t i = 0; i < n; ++i) to[i] += from[i];
}

/// The rows [begin, end) of one outer index: whoever owns these adds in the order of the places, so that the sums are
/// the same whatever the thread count. A place behind the axis goes nowhere.
template <class Index>
void add_rows(const Rows& r, const Index* places, const float* dy, float* dx, int64_t begin, int64_t end) {
  const int64_t inner = r.data.inner;
  std::fill_n(dx + begin * inner, (end - begin) * inner, 0.0f);
  for (int64_t k = 0; k < r.count; ++k) {
    const int64_t place = places[k] < 0 ? places[k] + r.data.length : places[k];
    if (place >= begin && place < end) add(dx + place * inner, dy + k * inner, inner);
  }
}

template <class Index>
void run(const Rows& r, const Buffers& b) {
  constexpr int64_t kGrain = 32768;  // elements below which a second thread costs more than it brings
  const int64_t length = r.data.length, inner = r.data.inner;
  parallel_for(r.data.outer * length, std::max<int64_t>(1, kGrain / inner), [&](int64_t begin, int64_t end) {
    for (int64_t o = begin / length; o * length < end; ++o)
      add_rows(r, b.in<Index>(0), b.in<float>(1) + o * r.count * inner, b.out<float>(0) + o * length * inner,
               std::max<int64_t>(begin - o * length, 0), std::min(end - o * length, length));
  });
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc &places = site.desc(0), &dy = site.desc(1);
  if (dy.dtype != DType::kF32 || (places.dtype != DType::kI32 && places.dtype != DType::kI64))
    return Decline{"not float32, or not indices"};
  const Dims shape = site.view.get_ints("shape");
  if (shape.empty() || element_count(shape) == 0) return Decline{"a scalar, or nothing"};
  const auto rank = static_cast<int64_t>(shape.size());
  const Rows rows{around(shape, static_cast<size_t>(normalize_axis(site.view.get_int("axis", 0), rank))),
                  places.size()};
  if (dy.size() != rows.data.outer * rows.count * rows.data.inner) return Decline{"dy does not fit"};
  PlannedStep step{.out = {{DType::kF32, shape}}};
  step.run = [rows, wide = places.dtype == DType::kI64](const Buffers& b) {
    (wide ? run<int64_t> : run<int32_t>)(rows, b);
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "mlopt", .op = "GatherGrad", .plan = plan}};

}  // namespace

std::span<const Kernel> gather_grad_kernels() { return kKernels; }

}  // namespace mlopt::cpu
