// What runs along an axis or depends on where an element is: CumSum, LpNormalization, Trilu.
#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"

namespace mlopt::gpu {
namespace {

Expected<PlannedStep> plan_cum_sum(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto type = x.dtype == DType::kI32 || x.dtype == DType::kI64 ? elem_of(x.dtype) : float_of(x.dtype);
  if (!type) return type.error();
  const auto axis = site.view.ints("", 1);
  if (!axis || axis->size() != 1) return Decline{"the axis is not constant"};
  if (x.dims.empty() || !is_countable(x)) return Decline{"a scalar, or more elements than kernels count"};
  const auto at = static_cast<size_t>(normalize_axis(axis->front(), static_cast<int64_t>(x.dims.size())));
  const Middle m = around(x.dims, at, at + 1);
  PlannedStep step{.out = {x}};
  step.in_place = 0;
  step.packed = {1};
  const bool exclusive = site.view.get_int("exclusive", 0) != 0, reverse = site.view.get_int("reverse", 0) != 0;
  step.run = [type = *type, exclusive, reverse, m](const Buffers& b) {
    launch(b, &Kernels::cum_sum,
           CumSumArgs{type, exclusive, reverse, m.outer, m.length, m.inner, b.in<void>(0), b.out<void>(0)});
  };
  return step;
}

Expected<PlannedStep> plan_lp_norm(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto type = float_of(x.dtype);
  if (!type) return type.error();
  const int64_t p = site.view.get_int("p", 2);
  if (x.dims.empty() || !is_countable(x) || p < 1 || p > 2) return Decline{"a scalar, or p is neither 1 nor 2"};
  const auto axis =
      static_cast<size_t>(normalize_axis(site.view.get_int("axis", -1), static_cast<int64_t>(x.dims.size())));
  PlannedStep step{.out = {x}};
  step.in_place = 0;
  step.run = [type = *type, square = p == 2, m = around(x.dims, axis, axis + 1)](const Buffers& b) {
    launch(b, &Kernels::lp_norm, LpNormArgs{type, square, m.outer, m.length, m.inner, b.in<void>(0), b.out<void>(0)});
  };
  return step;
}

Expected<PlannedStep> plan_triangle(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto width = width_of(x.dtype);
  if (!width) return width.error();
  const size_t rank = x.dims.size();
  if (rank < 2 || !is_countable(x)) return Decline{"no matrix, or more elements than kernels count"};
  if (site.has(1) && (site.desc(1).dtype != DType::kI64 || site.desc(1).size() != 1)) return Decline{"k is no number"};
  PlannedStep step{.out = {x}};
  step.in_place = 0;
  step.run = [width = *width, upper = site.view.get_int("upper", 1) != 0, count = x.size(), rows = x.dims[rank - 2],
              columns = x.dims[rank - 1], offset = site.has(1)](const Buffers& b) {
    launch(b, &Kernels::triangle,
           TriangleArgs{width, upper, count, rows, columns, offset ? b.in<int64_t>(1) : nullptr, b.in<void>(0),
                        b.out<void>(0)});
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "CumSum", .plan = plan_cum_sum},
    {.domain = "", .op = "LpNormalization", .plan = plan_lp_norm},
    {.domain = "", .op = "Trilu", .plan = plan_triangle},
};

}  // namespace

std::span<const Kernel> along_kernels() { return kKernels; }

}  // namespace mlopt::gpu
