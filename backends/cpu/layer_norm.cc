// LayerNormalization and RMSNormalization over the axes from `axis` on, and com.microsoft's forms that add first.
#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels.h"
#include "backends/cpu/middle.h"
#include "backends/cpu/rows.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kGrain = 8192;  // elements below which a second thread costs more than it brings

struct Norm {
  bool centred = true;  ///< false: divided by the root of the mean square
  float epsilon = 1e-5f;
};

void norm_row(const Norm& norm, const float* x, float* y, int64_t n, const float* scale, const float* bias) {
  const float count = static_cast<float>(n);
  const float mean = norm.centred ? fold_row(Fold::kSum, x, n) / count : 0.0f;
  const float variance = sum_deviation(x, n, mean) / count;
  normalize_row(x, y, n, mean, 1 / std::sqrt(variance + norm.epsilon), scale, bias);
}

bool all_float(const Site& site) {
  return std::all_of(site.in.begin(), site.in.end(), [](const auto& d) { return !d || d->dtype == DType::kF32; });
}

/// Does `part`, over and over, lie beside all of x?
bool repeats(const Dims& part, const Dims& x) {
  const auto own = std::find_if(part.begin(), part.end(), [](int64_t d) { return d != 1; });
  const auto count = part.end() - own;
  return count <= std::ssize(x) && std::equal(own, part.end(), x.end() - count);
}

/// Inputs x, scale, bias; the last elements that are normalized together are a row.
Expected<PlannedStep> plan(const Site& site) {
  if (site.view.node().output(1) || site.view.node().output(2)) return Decline{"mean or deviation are asked for"};
  if (site.view.get_int("stash_type", 1) != 1) return Decline{"not computed in float32"};
  const TensorDesc& x = site.desc(0);
  if (!all_float(site) || x.dims.empty()) return Decline{"not a float32 array"};
  const auto axis = normalize_axis(site.view.get_int("axis", -1), static_cast<int64_t>(x.dims.size()));
  const int64_t row = around(x.dims, static_cast<size_t>(axis), x.dims.size()).length;
  for (const int i : {1, 2})
    if (site.has(i) && (site.desc(i).size() != row || !repeats(site.desc(i).dims, x.dims)))
      return Decline{"scale or bias broadcast"};
  const Norm norm{site.view.node().op == "LayerNormalization", site.view.get_float("epsilon", 1e-5f)};
  PlannedStep step{.out = {x}};
  step.in_place = 0;
  step.run = [=, rows = x.size() / row, scaled = site.has(1), biased = site.has(2)](const Buffers& b) {
    const float *in = b.in<float>(0), *scale = scaled ? b.in<float>(1) : nullptr;
    const float* bias = biased ? b.in<float>(2) : nullptr;
    parallel_for(rows, std::max<int64_t>(1, kGrain / row), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) norm_row(norm, in + i * row, b.out<float>(0) + i * row, row, scale, bias);
    });
  };
  return step;
}

/// Inputs x, skip, scale, [bias of the norm], [bias of the sum]; the simplified form has no bias of the norm. Output 3
/// is the sum.
struct Skip {
  Norm norm;
  int norm_bias, sum_bias;  ///< inputs; -1: none
  bool sums;                ///< are asked for
  int64_t rows, row, skip_rows;
};

void run_skip(const Skip& s, const Buffers& b) {
  const float *in = b.in<float>(0), *skip = b.in<float>(1), *scale = b.in<float>(2);
  const float* bias = s.norm_bias < 0 ? nullptr : b.in<float>(s.norm_bias);
  const float* sum_bias = s.sum_bias < 0 ? nullptr : b.in<float>(s.sum_bias);
  float *out = b.out<float>(0), *sums = s.sums ? b.out<float>(3) : out;
  parallel_for(s.rows, std::max<int64_t>(1, kGrain / s.row), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      float* sum = sums + i * s.row;
      std::copy_n(in + i * s.row, s.row, sum);
      fold(Fold::kSum, sum, skip + i % s.skip_rows * s.row, s.row);
      if (sum_bias) fold(Fold::kSum, sum, sum_bias, s.row);
      norm_row(s.norm, sum, out + i * s.row, s.row, scale, bias);
    }
  });
}

Expected<PlannedStep> plan_skip(const Site& site) {
  const Node& node = site.view.node();
  const TensorDesc &x = site.desc(0), &skip = site.desc(1);
  if (node.output(1) || node.output(2)) return Decline{"mean or deviation are asked for"};
  if (!all_float(site) || x.dims.empty() || skip.dims.empty()) return Decline{"not float32 arrays"};
  const bool centred = node.op == "SkipLayerNormalization";
  const auto given = [&](int i) { return site.has(i) ? i : -1; };
  const int64_t row = x.dims.back();
  const Skip s{{centred, site.view.get_float("epsilon", 1e-12f)},
               centred ? given(3) : -1,
               given(centred ? 4 : 3),
               node.output(3) != nullptr,
               x.size() / row,
               row,
               skip.size() / row};
  if (skip.dims.back() != row || !repeats(skip.dims, x.dims)) return Decline{"skip does not fit"};
  for (int i = 2; i < static_cast<int>(site.in.size()); ++i)
    if (site.has(i) && site.desc(i).dims != Dims{row}) return Decline{"scale or bias does not fit"};
  TensorDesc statistics = x;
  statistics.dims.back() = 1;
  PlannedStep step{.out = {x, statistics, statistics, x}};
  step.out.resize(node.outputs().size());
  step.run = [s](const Buffers& b) { run_skip(s, b); };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "LayerNormalization", .plan = plan},
    {.domain = "", .op = "RMSNormalization", .plan = plan},
    {.domain = "", .op = "SimplifiedLayerNormalization", .plan = plan},
    {.domain = "com.microsoft", .op = "SkipLayerNormalization", .plan = plan_skip},
    {.domain = "com.microsoft", .op = "SkipSimplifiedLayerNormalization", .plan = plan_skip},
};

}  // namespace

std::span<const Kernel> layer_norm_kernels() { return kKernels; }

}  // namespace mlopt::cpu
