// Reductions over axes, and the pools whose window is everything.
#include "backends/cpu/reduce.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/planned.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kGrain = 16384;  // elements below which a second thread costs more than it brings

/// The fold along the middle axis of [outer, length, inner], where inner is more than 1: whole rows at a time.
void fold_columns(Fold op, const float* in, float* out, const Middle& m) {
  constexpr int64_t kPiece = 1024;  // columns that stay in the first cache while all rows pass
  const int64_t pieces = (m.inner + kPiece - 1) / kPiece;
  const int64_t grain = std::max<int64_t>(1, kGrain / (m.length * std::min(m.inner, kPiece)));
  parallel_for(m.outer * pieces, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % pieces * kPiece, count = std::min(kPiece, m.inner - first);
      float* acc = out + i / pieces * m.inner + first;
      const float* x = in + i / pieces * m.length * m.inner + first;
      std::fill_n(acc, count, identity(op));
      for (int64_t row = 0; row < m.length; ++row) fold(op, acc, x + row * m.inner, count);
    }
  });
}

}  // namespace

void fold_middle(Fold op, const float* in, float* out, const Middle& m) {
  if (m.inner > 1) return fold_columns(op, in, out, m);
  parallel_for(m.outer, std::max<int64_t>(1, kGrain / m.length), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = fold_row(op, in + i * m.length, m.length);
  });
}

namespace {

enum class Finish { kNothing, kMean, kRoot };

struct Reduction {
  Fold fold;
  Finish finish;
};

/// Neighbouring reduced axes as one, the last first.
std::vector<Middle> groups_of(const Dims& dims, const std::vector<bool>& reduced) {
  std::vector<Middle> groups;
  Dims rest = dims;
  for (size_t end = dims.size(); end > 0;) {
    if (!reduced[end - 1]) {
      --end;
      continue;
    }
    size_t begin = end;
    Middle m;
    while (begin > 0 && reduced[begin - 1]) m.length *= dims[--begin];
    for (size_t k = 0; k < begin; ++k) m.outer *= dims[k];
    for (size_t k = end; k < rest.size(); ++k) m.inner *= rest[k];
    for (size_t k = begin; k < end; ++k) rest[k] = 1;
    groups.push_back(m);
    end = begin;
  }
  return groups;
}

void finish(Finish how, float* y, int64_t count, int64_t reduced) {
  if (how == Finish::kMean) {
    const float n = static_cast<float>(reduced);
    for (int64_t i = 0; i < count; ++i) y[i] /= n;
  } else if (how == Finish::kRoot) {
    for (int64_t i = 0; i < count; ++i) y[i] = std::sqrt(y[i]);
  }
}

/// The reduction of `x` over groups into `out`, which has the final shape.
void reduce(const Reduction& r, const std::vector<Middle>& groups, const Tensor& x, Tensor& out) {
  Tensor current = x;
  Fold fold = r.fold;
  int64_t reduced = 1;
  for (size_t g = 0; g < groups.size(); ++g) {
    const Middle& m = groups[g];
    const Tensor before = current;
    const bool last = g + 1 == groups.size();
    if (!last) current = Tensor(DType::kF32, {m.outer, m.inner});
    fold_middle(fold, before.data<float>(), (last ? out : current).mutable_data<float>(), m);
    if (fold == Fold::kSumAbs || fold == Fold::kSumSquare) fold = Fold::kSum;  // the terms are made
    reduced *= m.length;
  }
  finish(r.finish, out.mutable_data<float>(), out.size(), reduced);
}

Reduction reduction_of(std::string_view op) {
  if (op == "ReduceMean" || op == "GlobalAveragePool") return {Fold::kSum, Finish::kMean};
  if (op == "ReduceMax" || op == "GlobalMaxPool") return {Fold::kMax, Finish::kNothing};
  if (op == "ReduceMin") return {Fold::kMin, Finish::kNothing};
  if (op == "ReduceL1") return {Fold::kSumAbs, Finish::kNothing};
  if (op == "ReduceL2") return {Fold::kSumSquare, Finish::kRoot};
  if (op == "ReduceSumSquare") return {Fold::kSumSquare, Finish::kNothing};
  return {Fold::kSum, Finish::kNothing};
}

Expected<Step> plan(const Reduction& r, const Dims& dims, const Dims& axes, bool keep) {
  std::vector<bool> reduced(dims.size(), axes.empty());
  for (const int64_t axis : axes)
    reduced[static_cast<size_t>(normalize_axis(axis, static_cast<int64_t>(dims.size())))] = true;
  Dims out;
  for (size_t k = 0; k < dims.size(); ++k)
    if (!reduced[k] || keep) out.push_back(reduced[k] ? 1 : dims[k]);
  std::vector<Middle> groups = groups_of(dims, reduced);
  if (groups.empty()) return Decline{"nothing is reduced"};
  return Step(
      [=, groups = std::move(groups)](Call& call) { reduce(r, groups, call.in(0), call.make(0, DType::kF32, out)); });
}

Expected<Step> compile(const NodeView& view, const CompileContext& context) {
  if (const auto no = wrong_type(view, 0, {DType::kF32})) return *no;
  const auto axes = view.ints("axes", 1);
  if (!axes) return Decline{"the axes are not constant"};
  if (axes->empty() && view.get_int("noop_with_empty_axes", 0) != 0) return Decline{"nothing is reduced"};
  const bool keep = view.get_int("keepdims", 1) != 0;
  const Reduction r = reduction_of(view.node().op);
  return planned(view, context, [=, axes = *axes](const Call& call) -> Expected<Step> {
    if (call.in(0).dtype() != DType::kF32) return Decline{"not float32"};
    return plan(r, call.in(0).dims(), axes, keep);
  });
}

Expected<Step> compile_global(const NodeView& view, const CompileContext& context) {
  if (const auto no = wrong_type(view, 0, {DType::kF32})) return *no;
  const Reduction r = reduction_of(view.node().op);
  return planned(view, context, [r](const Call& call) -> Expected<Step> {
    const Dims& dims = call.in(0).dims();
    if (call.in(0).dtype() != DType::kF32 || dims.size() < 3) return Decline{"not float32 with spatial axes"};
    Dims axes;
    for (size_t k = 2; k < dims.size(); ++k) axes.push_back(static_cast<int64_t>(k));
    return plan(r, dims, axes, true);
  });
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "ReduceSum", .compile = compile},
    {.domain = "", .op = "ReduceMean", .compile = compile},
    {.domain = "", .op = "ReduceMax", .compile = compile},
    {.domain = "", .op = "ReduceMin", .compile = compile},
    {.domain = "", .op = "ReduceL1", .compile = compile},
    {.domain = "", .op = "ReduceL2", .compile = compile},
    {.domain = "", .op = "ReduceSumSquare", .compile = compile},
    {.domain = "", .op = "GlobalAveragePool", .compile = compile_global},
    {.domain = "", .op = "GlobalMaxPool", .compile = compile_global},
};

}  // namespace

std::span<const Kernel> reduce_kernels() { return kKernels; }

}  // namespace mlopt::cpu
