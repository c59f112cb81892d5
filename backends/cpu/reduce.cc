// Reductions over axes, and the pools whose window is everything.
#include "backends/cpu/reduce.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "backends/cpu/activation.h"
#include "backends/cpu/column_pieces.h"
#include "backends/cpu/kernels.h"
#include "core/base/parallel.h"
#include "core/ir/reduced_axes.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kGrain = 16384;  // elements below which a second thread costs more than it brings

constexpr int64_t kPiece = 1024;  // columns at a time
constexpr int64_t kRows = 256;    // whose sum is exact enough in float

/// The sums of `count` columns of `length` rows: step(first row, rows) adds a few rows to `sums`, which are zero then,
/// and those are added up in double.
template <class Step>
void sum_by_blocks(int64_t length, float* sums, int64_t count, const Step& step) {
  double totals[kPiece];
  std::fill_n(totals, count, 0.0);
  for (int64_t row = 0; row < length; row += kRows) {
    std::fill_n(sums, count, 0.0f);
    step(row, std::min(kRows, length - row));
    for (int64_t i = 0; i < count; ++i) totals[i] += static_cast<double>(sums[i]);
  }
  for (int64_t i = 0; i < count; ++i) sums[i] = static_cast<float>(totals[i]);
}

/// The fold along the middle axis of [outer, length, inner], where inner is more than 1: whole rows at a time.
void fold_columns(Fold op, const float* in, float* out, const Middle& m) {
  for_column_pieces(m, kPiece, kGrain, [&](int64_t outer, int64_t first, int64_t count) {
    float* acc = out + outer * m.inner + first;
    const float* x = in + outer * m.length * m.inner + first;
    const auto fold_rows = [&](int64_t from, int64_t rows) {
      for (int64_t row = from; row < from + rows; ++row) fold(op, acc, x + row * m.inner, count);
    };
    if (is_sum(op) && m.length > kRows) return sum_by_blocks(m.length, acc, count, fold_rows);
    std::fill_n(acc, count, identity(op));
    fold_rows(0, m.length);
  });
}

/// Rows of so few numbers that a vector would be mostly empty: one after the other by step(accumulator, number).
constexpr int64_t kShort = 8;

template <class Step>
void fold_short_rows(float start, const float* in, float* out, int64_t rows, int64_t n, const Step& step) {
  for (int64_t row = 0; row < rows; ++row, in += n) {
    float all = start;
    for (int64_t k = 0; k < n; ++k) all = step(all, in[k]);
    out[row] = all;
  }
}

void fold_short_rows(Fold op, const float* in, float* out, int64_t rows, int64_t n) {
  const auto run = [&](const auto& step) { fold_short_rows(identity(op), in, out, rows, n, step); };
  switch (op) {
    case Fold::kSum:
      return run([](float all, float x) { return all + x; });
    case Fold::kSumAbs:
      return run([](float all, float x) { return all + std::abs(x); });
    case Fold::kSumSquare:
      return run([](float all, float x) { return all + x * x; });
    case Fold::kProduct:
      return run([](float all, float x) { return all * x; });
    case Fold::kMax:
      return run([](float all, float x) { return x > all || x != x ? x : all; });
    case Fold::kMin:
      return run([](float all, float x) { return x < all || x != x ? x : all; });
  }
}

}  // namespace

void fold_middle(Fold op, const float* in, float* out, const Middle& m) {
  if (m.inner > 1) return fold_columns(op, in, out, m);
  parallel_for(m.outer, std::max<int64_t>(1, kGrain / m.length), [&](int64_t begin, int64_t end) {
    if (m.length <= kShort) return fold_short_rows(op, in + begin * m.length, out + begin, end - begin, m.length);
    for (int64_t i = begin; i < end; ++i) out[i] = fold_row(op, in + i * m.length, m.length);
  });
}

namespace {

/// log(sum(exp(x))) of one row, by the distances from the largest, whose exponentials are at most 1.
float log_sum_exp(const float* x, int64_t count) {
  const float most = fold_row(Fold::kMax, x, count);
  if (!std::isfinite(most)) return most;
  float exponentials[kPiece];
  double sum = 0;
  for (int64_t i = 0; i < count; i += kPiece) sum += exp_row(x + i, exponentials, std::min(kPiece, count - i), most);
  return most + static_cast<float>(std::log(sum));
}

/// The same along the middle axis of [outer, length, inner].
void log_sum_exp_middle(const float* in, float* out, const Middle& m) {
  if (m.inner == 1)
    return parallel_for(m.outer, std::max<int64_t>(1, kGrain / m.length), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out[i] = log_sum_exp(in + i * m.length, m.length);
    });
  fold_columns(Fold::kMax, in, out, m);
  for_column_pieces(m, kPiece, kGrain, [&](int64_t outer, int64_t first, int64_t count) {
    float* most = out + outer * m.inner + first;
    const float* x = in + outer * m.length * m.inner + first;
    float sums[kPiece];
    sum_by_blocks(m.length, sums, count, [&](int64_t from, int64_t rows) {
      for (int64_t row = from; row < from + rows; ++row) add_exp_distance(sums, x + row * m.inner, most, count);
    });
    for (int64_t i = 0; i < count; ++i)
      if (std::isfinite(most[i])) most[i] += std::log(sums[i]);
  });
}

enum class Finish { kNothing, kMean, kRoot, kLog };

struct Reduction {
  std::optional<Fold> fold;  ///< nothing: the logarithm of the sum of exponentials
  Finish finish;
};

void finish(Finish how, float* y, int64_t count, int64_t reduced) {
  if (how == Finish::kMean) {
    const float n = static_cast<float>(reduced);
    for (int64_t i = 0; i < count; ++i) y[i] /= n;
  } else if (how == Finish::kRoot) {
    for (int64_t i = 0; i < count; ++i) y[i] = std::sqrt(y[i]);
  } else if (how == Finish::kLog) {
    apply({Fn::kLog}, y, y, count);
  }
}

Reduction reduction_of(std::string_view op) {
  if (op == "ReduceMean" || op == "GlobalAveragePool") return {Fold::kSum, Finish::kMean};
  if (op == "ReduceMax" || op == "GlobalMaxPool") return {Fold::kMax, Finish::kNothing};
  if (op == "ReduceMin") return {Fold::kMin, Finish::kNothing};
  if (op == "ReduceL1") return {Fold::kSumAbs, Finish::kNothing};
  if (op == "ReduceL2") return {Fold::kSumSquare, Finish::kRoot};
  if (op == "ReduceSumSquare") return {Fold::kSumSquare, Finish::kNothing};
  if (op == "ReduceProd") return {Fold::kProduct, Finish::kNothing};
  if (op == "ReduceLogSum") return {Fold::kSum, Finish::kLog};
  if (op == "ReduceLogSumExp") return {std::nullopt, Finish::kNothing};
  return {Fold::kSum, Finish::kNothing};
}

size_t made_by(const Middle& m) { return static_cast<size_t>(m.outer * m.inner); }

/// The reduction over groups, one after the other; what lies between is kept in the scratch.
void reduce(const Reduction& r, const std::vector<Middle>& groups, const Buffers& b) {
  const float* x = b.in<float>(0);
  auto* next = reinterpret_cast<float*>(b.scratch);
  std::optional<Fold> fold = r.fold;
  int64_t reduced = 1;
  for (size_t g = 0; g < groups.size(); ++g) {
    const bool is_last = g + 1 == groups.size();
    float* y = is_last ? b.out<float>(0) : next;
    fold ? fold_middle(*fold, x, y, groups[g]) : log_sum_exp_middle(x, y, groups[g]);
    if (fold && is_sum(*fold)) fold = Fold::kSum;  // the terms are made
    reduced *= groups[g].length;
    x = y;
    if (!is_last) next += made_by(groups[g]);  // one group alone has no scratch
  }
  finish(r.finish, b.out<float>(0), static_cast<int64_t>(made_by(groups.back())), reduced);
}

/// `reduced`: by axis of the input.
Expected<PlannedStep> plan_over(const Site& site, const std::vector<bool>& reduced, bool keep) {
  const TensorDesc& x = site.desc(0);
  const bool last = x.layout == mlopt::Layout::kChannelsLast;
  std::vector<bool> lies = reduced;
  if (last) {
    // What is left, images and channels, then lies in ONNX's order again.
    if (std::find(reduced.begin() + 2, reduced.end(), false) != reduced.end()) return Decline{"spatial axes stay"};
    lies.erase(lies.begin() + 1);
    lies.push_back(reduced[1]);
  }
  Dims out;
  for (size_t k = 0; k < x.dims.size(); ++k)
    if (!reduced[k] || keep) out.push_back(reduced[k] ? 1 : x.dims[k]);
  std::vector<Middle> groups = reduction_groups(x.memory_dims(), lies);
  if (groups.empty()) return Decline{"nothing is reduced"};
  PlannedStep step{.out = {{DType::kF32, std::move(out)}}};
  for (size_t g = 0; g + 1 < groups.size(); ++g) step.scratch_bytes += made_by(groups[g]) * sizeof(float);
  step.run = [r = reduction_of(site.view.node().op), groups = std::move(groups)](const Buffers& b) {
    reduce(r, groups, b);
  };
  return step;
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  if (x.dtype != DType::kF32) return Decline{"not float32"};
  const auto reduced = reduced_axes(site.view, x.dims.size());
  if (!reduced) return reduced.error();
  return plan_over(site, *reduced, site.view.get_int("keepdims", 1) != 0);
}

Expected<PlannedStep> plan_global(const Site& site) {
  const TensorDesc& x = site.desc(0);
  if (x.dtype != DType::kF32 || x.dims.size() < 3) return Decline{"not float32 with spatial axes"};
  std::vector<bool> reduced(x.dims.size(), true);
  reduced[0] = reduced[1] = false;
  return plan_over(site, reduced, true);
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "ReduceSum", .plan = plan, .layout = LayoutRule::kChannelsLast},
    {.domain = "", .op = "ReduceMean", .plan = plan, .layout = LayoutRule::kChannelsLast},
    {.domain = "", .op = "ReduceMax", .plan = plan, .layout = LayoutRule::kChannelsLast},
    {.domain = "", .op = "ReduceMin", .plan = plan, .layout = LayoutRule::kChannelsLast},
    {.domain = "", .op = "ReduceL1", .plan = plan, .layout = LayoutRule::kChannelsLast},
    {.domain = "", .op = "ReduceL2", .plan = plan, .layout = LayoutRule::kChannelsLast},
    {.domain = "", .op = "ReduceSumSquare", .plan = plan, .layout = LayoutRule::kChannelsLast},
    {.domain = "", .op = "ReduceProd", .plan = plan, .layout = LayoutRule::kChannelsLast},
    {.domain = "", .op = "ReduceLogSum", .plan = plan, .layout = LayoutRule::kChannelsLast},
    {.domain = "", .op = "ReduceLogSumExp", .plan = plan, .layout = LayoutRule::kChannelsLast},
    {.domain = "", .op = "GlobalAveragePool", .plan = plan_global, .layout = LayoutRule::kChannelsLast},
    {.domain = "", .op = "GlobalMaxPool", .plan = plan_global, .layout = LayoutRule::kChannelsLast},
};

}  // namespace

std::span<const Kernel> reduce_kernels() { return kKernels; }

}  // namespace mlopt::cpu
