// CumSum: float32 in double, as sums may be long; integers wrap.
#include <algorithm>
#include <array>

#include "backends/cpu/column_pieces.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/middle.h"
#include "core/base/parallel.h"
#include "core/tensor/cast.h"

namespace mlopt::cpu {
namespace {

struct Way {
  Middle around;  ///< the axis, as the elements lie
  bool exclusive, reverse;
};

/// The sums along a line.
template <class T, class Sum>
void cumulate_line(const Way& way, const T* x, T* out) {
  Sum sum{0};
  for (int64_t k = 0; k < way.around.length; ++k) {
    const int64_t at = way.reverse ? way.around.length - 1 - k : k;
    const Sum before = sum;
    sum += static_cast<Sum>(x[at]);
    out[at] = static_cast<T>(way.exclusive ? before : sum);
  }
}

/// [outer, length, inner] row by row of the inner axis.
template <class T, class Sum>
void cumulate(const Way& way, const T* x, T* out) {
  constexpr int64_t kGrain = 16384;  // elements below which a second thread costs more than it brings
  constexpr int64_t kPiece = 512;
  const Middle& m = way.around;
  if (m.inner == 1)
    return parallel_for(m.outer, std::max<int64_t>(1, kGrain / m.length), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) cumulate_line<T, Sum>(way, x + i * m.length, out + i * m.length);
    });
  for_column_pieces(m, kPiece, kGrain, [&](int64_t outer, int64_t first, int64_t count) {
    std::array<Sum, kPiece> sums{};
    for (int64_t k = 0; k < m.length; ++k) {
      const int64_t row = way.reverse ? m.length - 1 - k : k;
      const int64_t at = (outer * m.length + row) * m.inner + first;
      Sum* sum = sums.data();
      for (int64_t c = 0; c < count; ++c) {
        const Sum before = sum[c];
        sum[c] += static_cast<Sum>(x[at + c]);
        out[at + c] = static_cast<T>(way.exclusive ? before : sum[c]);
      }
    }
  });
}

template <class T, class Sum>
std::function<void(const Buffers&)> runner(const Way& way) {
  return [way](const Buffers& b) { cumulate<T, Sum>(way, b.in<T>(0), b.out<T>(0)); };
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const Tensor* axis = site.view.constant(1);
  if (!axis || axis->size() != 1 || x.dims.empty()) return Decline{"not one constant axis"};
  const auto at = static_cast<size_t>(normalize_axis(to_ints(*axis)[0], static_cast<int64_t>(x.dims.size())));
  const Way way{around(x.dims, at), site.view.get_int("exclusive", 0) != 0, site.view.get_int("reverse", 0) != 0};
  PlannedStep step{.out = {x}};
  step.in_place = 0;
  step.packed = {1};
  if (x.dtype == DType::kF32) step.run = runner<float, double>(way);
  if (x.dtype == DType::kI64) step.run = runner<int64_t, uint64_t>(way);
  if (x.dtype == DType::kI32) step.run = runner<int32_t, uint32_t>(way);
  if (!step.run) return Decline{"not this type"};
  if (x.size() == 0) return Decline{"no elements"};
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "CumSum", .plan = plan}};

}  // namespace

std::span<const Kernel> cumulative_sum_kernels() { return kKernels; }

}  // namespace mlopt::cpu
