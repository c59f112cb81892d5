// What runs along an axis or depends on where an element is: CumSum and CumProd, LpNormalization, LRN,
// ReverseSequence, Trilu.
#include <algorithm>

#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"
#include "backends/gpu/places.h"
#include "core/tensor/cast.h"

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
  const bool multiplies = site.view.node().op == "CumProd";
  step.run = [type = *type, exclusive, reverse, multiplies, m](const Buffers& b) {
    launch(b, &Kernels::cum_sum,
           CumSumArgs{type, exclusive, reverse, multiplies, m.outer, m.length, m.inner, b.in<void>(0), b.out<void>(0)});
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

/// LRN, over neighbouring channels.
Expected<PlannedStep> plan_local_norm(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto type = float_of(x.dtype);
  if (!type) return type.error();
  const int64_t size = site.view.get_int("size");
  if (x.dims.size() < 2 || !is_countable(x) || size < 1) return Decline{"no channels, or more than kernels count"};
  const Middle m = around(x.dims, 1, 2);
  LocalNormArgs args{};
  args.type = *type;
  args.outer = m.outer, args.length = m.length, args.inner = m.inner, args.size = size;
  args.scale = site.view.get_float("alpha", 1e-4f) / static_cast<float>(size);
  args.bias = site.view.get_float("bias", 1);
  args.beta = site.view.get_float("beta", 0.75f);
  PlannedStep step{.out = {x}};
  step.run = [args](const Buffers& b) {
    LocalNormArgs now = args;
    now.in = b.in<void>(0);
    now.out = b.out<void>(0);
    launch(b, &Kernels::local_norm, now);
  };
  return step;
}

Expected<PlannedStep> plan_reverse(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto width = width_of(x.dtype);
  const auto wide = has_wide_places(site.desc(1));
  if (!width || !wide) return width ? wide.error() : width.error();
  const int64_t batch = site.view.get_int("batch_axis", 1), time = site.view.get_int("time_axis", 0);
  if (x.dims.size() < 2 || !is_countable(x) || batch + time != 1 || batch * time != 0)
    return Decline{"time and batch are not the first axes"};
  ReverseArgs args{*width,
                   batch == 0,
                   *wide,
                   x.dims[static_cast<size_t>(time)],
                   x.dims[static_cast<size_t>(batch)],
                   around(x.dims, 1, 2).inner,
                   nullptr,
                   nullptr,
                   nullptr};
  if (site.desc(1).size() != args.batch) return Decline{"there is not one length for each sample"};
  PlannedStep step{.out = {x}};
  step.run = [args](const Buffers& b) {
    ReverseArgs now = args;
    now.in = b.in<void>(0);
    now.lengths = b.in<void>(1);
    now.out = b.out<void>(0);
    launch(b, &Kernels::reverse, now);
  };
  return step;
}

Expected<PlannedStep> plan_det(const Site& site) {
  constexpr int64_t kMostRows = 64;  // one thread for each matrix
  const TensorDesc& x = site.desc(0);
  const auto type = float_of(x.dtype);
  if (!type) return type.error();
  const size_t rank = x.dims.size();
  if (rank < 2 || !is_countable(x) || x.dims[rank - 1] != x.dims[rank - 2] || x.dims[rank - 1] > kMostRows)
    return Decline{"no square matrices, or large ones"};
  const int64_t n = x.dims[rank - 1], count = x.size() / (n * n);
  PlannedStep step{.out = {{x.dtype, Dims(x.dims.begin(), x.dims.end() - 2)}}};
  step.scratch_bytes = static_cast<size_t>(x.size()) * sizeof(float);
  step.run = [type = *type, n, count](const Buffers& b) {
    launch(b, &Kernels::determinants,
           DetArgs{type, count, n, reinterpret_cast<float*>(b.scratch), b.in<void>(0), b.out<void>(0)});
  };
  return step;
}

/// Zeros, and ones along a diagonal.
Expected<PlannedStep> plan_eye(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto type = static_cast<DType>(site.view.get_int("dtype", static_cast<int64_t>(x.dtype)));
  const auto width = width_of(type);
  if (!width) return width.error();
  if (x.dims.size() != 2 || !is_countable(x)) return Decline{"no matrix, or more elements than kernels count"};
  const int64_t k = site.view.get_int("k", 0), row = std::max<int64_t>(0, -k), column = std::max<int64_t>(0, k);
  const int64_t ones = std::max<int64_t>(0, std::min(x.dims[0] - row, x.dims[1] - column));
  const auto one = Tensor(cast(Tensor::scalar<int64_t>(1), type));
  const auto brought = std::make_shared<Brought>(std::vector<std::byte>(one.raw(), one.raw() + one.bytes()));
  const auto walk = walk_over<2>({std::max<int64_t>(ones, 1)}, {Dims{0}, Dims{x.dims[1] + 1}});
  if (!walk) return walk.error();
  PlannedStep step{.out = {{type, x.dims}}};
  step.packed = {0};
  step.run = [=, width = *width, walk = *walk, count = x.size(),
              first = (row * x.dims[1] + column) * *width](const Buffers& b) {
    launch(b, &Kernels::fill, FillArgs{width, nullptr, b.out<void>(0), count});
    if (ones > 0)
      launch(b, &Kernels::copy, CopyArgs{width, walk, brought->at(queue_of(b)), b.out<std::byte>(0) + first});
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
    {.domain = "", .op = "CumProd", .plan = plan_cum_sum},
    {.domain = "", .op = "Det", .plan = plan_det},
    {.domain = "", .op = "EyeLike", .plan = plan_eye},
    {.domain = "", .op = "LRN", .plan = plan_local_norm},
    {.domain = "", .op = "ReverseSequence", .plan = plan_reverse},
    {.domain = "", .op = "LpNormalization", .plan = plan_lp_norm},
    {.domain = "", .op = "Trilu", .plan = plan_triangle},
};

}  // namespace

std::span<const Kernel> along_kernels() { return kKernels; }

}  // namespace mlopt::gpu
