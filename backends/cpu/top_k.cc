// TopK of float32.
#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "backends/cpu/at_run.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/middle.h"
#include "backends/cpu/ranks.h"
#include "core/base/parallel.h"
#include "core/tensor/cast.h"

namespace mlopt::cpu {
namespace {

struct Way {
  Middle around;  ///< the axis
  size_t axis;
  int64_t k;
  bool largest;
};

/// The k first ranks of a line, in order. What is behind the k-th of those seen so far is not kept, and the others are
/// sifted when they fill the room.
void take_first(const float* x, int64_t step, const Way& way, std::vector<uint64_t>& ranks) {
  constexpr int64_t kRoom = 32;
  const auto most = static_cast<size_t>(std::max(2 * way.k, kRoom));
  const auto sift = [&] {
    if (ranks.size() > static_cast<size_t>(way.k))
      std::nth_element(ranks.begin(), ranks.begin() + way.k - 1, ranks.end(), std::greater<>());
    ranks.resize(static_cast<size_t>(way.k));
  };
  ranks.clear();
  float last = std::numeric_limits<float>::quiet_NaN();  // the k-th so far
  for (int64_t i = 0; i < way.around.length; ++i) {
    const float value = x[i * step];
    if (way.largest ? value <= last : value >= last) continue;
    ranks.push_back(rank_of(value, static_cast<uint32_t>(i), way.largest));
    if (ranks.size() < most) continue;
    sift();
    last = x[place_of(ranks.back()) * step];
  }
  sift();
  std::sort(ranks.begin(), ranks.end(), std::greater<>());
}

void top_k(const Way& way, const float* x, float* values, int64_t* places) {
  constexpr int64_t kGrain = 8192;  // elements below which a second thread costs more than it brings
  const Middle& m = way.around;
  parallel_for(m.outer * m.inner, std::max<int64_t>(1, kGrain / m.length), [&](int64_t begin, int64_t end) {
    std::vector<uint64_t> ranks;
    for (int64_t line = begin; line < end; ++line) {
      const int64_t outer = line / m.inner, inner = line % m.inner;
      const float* from = x + outer * m.length * m.inner + inner;
      take_first(from, m.inner, way, ranks);
      for (int64_t i = 0; i < way.k; ++i) {
        const int64_t at = (outer * way.k + i) * m.inner + inner;
        places[at] = place_of(ranks[static_cast<size_t>(i)]);
        values[at] = from[places[at] * m.inner];
      }
    }
  });
}

/// Declines what has no such axis, or too few elements along it.
Expected<Way> way_of(const NodeView& view, DType type, const Dims& dims, int64_t k) {
  if (type != DType::kF32 || dims.empty()) return Decline{"not float32 with axes"};
  const auto axis = static_cast<size_t>(normalize_axis(view.get_int("axis", -1), static_cast<int64_t>(dims.size())));
  const Way way{around(dims, axis), axis, k, view.get_int("largest", 1) != 0};
  if (k < 1 || k > way.around.length || way.around.length >= int64_t{1} << 32) return Decline{"k does not fit"};
  return way;
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const Tensor* given = site.view.constant(1);
  if (!given && !site.view.has("k")) return Decline{"k is not constant"};
  if (given && given->size() != 1) return Decline{"not one k"};
  const auto way = way_of(site.view, x.dtype, x.dims, given ? to_ints(*given)[0] : site.view.get_int("k"));
  if (!way) return way.error();
  TensorDesc values{DType::kF32, x.dims}, places{DType::kI64, x.dims};
  values.dims[way->axis] = places.dims[way->axis] = way->k;
  PlannedStep step{.out = {values, places}};
  if (given) step.packed = {1};
  step.run = [way = *way](const Buffers& b) { top_k(way, b.in<float>(0), b.out<float>(0), b.out<int64_t>(1)); };
  return step;
}

/// For a k that only the run tells.
bool run(Call& call) {
  const Tensor& x = call.in(0);
  if (!call.has(1) || call.in(1).size() != 1 || x.size() == 0) return false;
  const auto way = way_of(call.view, x.dtype(), x.dims(), to_ints(call.in(1))[0]);
  if (!way) return false;
  Dims dims = x.dims();
  dims[way->axis] = way->k;
  Tensor values(DType::kF32, dims), places(DType::kI64, dims);
  top_k(*way, x.data<float>(), values.mutable_data<float>(), places.mutable_data<int64_t>());
  call.set(0, std::move(values));
  call.set(1, std::move(places));
  return true;
}

Expected<Step> compile(const NodeView& view, const CompileContext& context) { return at_run(view, context, run); }

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "TopK", .plan = plan},
    {.domain = "", .op = "TopK", .compile = compile},
};

}  // namespace

std::span<const Kernel> top_k_kernels() { return kKernels; }

}  // namespace mlopt::cpu
