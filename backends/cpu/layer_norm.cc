// LayerNormalization and RMSNormalization over the axes from `axis` on, and com.microsoft's forms that add first.
#include <cmath>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/middle.h"
#include "backends/cpu/planned.h"
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

const float* floats_or_null(const Call& call, int i) { return call.has(i) ? call.in(i).data<float>() : nullptr; }

bool all_float(const Call& call) {
  for (int i = 0; i < call.input_count(); ++i)
    if (call.has(i) && call.in(i).dtype() != DType::kF32) return false;
  return true;
}

/// Inputs x, scale, bias; the last elements that are normalized together are a row.
Expected<PlannedStep> plan(const Site& site) {
  if (site.view.node().output(1) || site.view.node().output(2)) return Decline{"mean or deviation are asked for"};
  if (site.view.get_int("stash_type", 1) != 1) return Decline{"not computed in float32"};
  const TensorDesc& x = site.desc(0);
  for (const auto& desc : site.in)
    if (desc && desc->dtype != DType::kF32) return Decline{"not float32"};
  if (x.dims.empty()) return Decline{"a scalar"};
  const auto axis = normalize_axis(site.view.get_int("axis", -1), static_cast<int64_t>(x.dims.size()));
  const int64_t row = around(x.dims, static_cast<size_t>(axis), x.dims.size()).length;
  for (const int i : {1, 2})
    if (site.has(i) && site.desc(i).size() != row) return Decline{"scale or bias broadcast"};
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
  int64_t row = 1, skip_rows = 1;
};

void run_skip(const Skip& s, Call& call) {
  const Tensor& x = call.in(0);
  const float *in = x.data<float>(), *skip = call.in(1).data<float>(), *scale = call.in(2).data<float>();
  const float* bias = s.norm_bias < 0 ? nullptr : floats_or_null(call, s.norm_bias);
  const float* sum_bias = floats_or_null(call, s.sum_bias);
  float* out = call.make(0, DType::kF32, x.dims()).mutable_data<float>();
  float* sums = call.wants(3) ? call.make(3, DType::kF32, x.dims()).mutable_data<float>() : nullptr;
  parallel_for(x.size() / s.row, std::max<int64_t>(1, kGrain / s.row), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      float* sum = (sums ? sums : out) + i * s.row;
      std::copy_n(in + i * s.row, s.row, sum);
      fold(Fold::kSum, sum, skip + i % s.skip_rows * s.row, s.row);
      if (sum_bias) fold(Fold::kSum, sum, sum_bias, s.row);
      norm_row(s.norm, sum, out + i * s.row, s.row, scale, bias);
    }
  });
}

Expected<Step> compile_skip(const NodeView& view, const CompileContext& context) {
  if (const auto no = wrong_type(view, 0, {DType::kF32})) return *no;
  if (view.node().output(1) || view.node().output(2)) return Decline{"mean or deviation are asked for"};
  const bool centred = view.node().op == "SkipLayerNormalization";
  const Skip common{{centred, view.get_float("epsilon", 1e-12f)}, centred ? 3 : -1, centred ? 4 : 3};
  return planned(view, context, [=](const Call& call) -> Expected<Step> {
    const Tensor &x = call.in(0), &skip = call.in(1);
    if (!all_float(call) || x.rank() == 0 || skip.rank() == 0) return Decline{"not float32 arrays"};
    Skip s = common;
    s.row = x.dims().back();
    s.skip_rows = skip.size() / s.row;
    if (skip.dims().back() != s.row || x.size() % skip.size() != 0) return Decline{"skip does not fit"};
    for (int i = 2; i < call.input_count(); ++i)
      if (call.has(i) && call.in(i).dims() != Dims{s.row}) return Decline{"scale or bias does not fit"};
    return Step([s](Call& c) { run_skip(s, c); });
  });
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "LayerNormalization", .plan = plan},
    {.domain = "", .op = "RMSNormalization", .plan = plan},
    {.domain = "", .op = "SimplifiedLayerNormalization", .plan = plan},
    {.domain = "com.microsoft", .op = "SkipLayerNormalization", .compile = compile_skip},
    {.domain = "com.microsoft", .op = "SkipSimplifiedLayerNormalization", .compile = compile_skip},
};

}  // namespace

std::span<const Kernel> layer_norm_kernels() { return kKernels; }

}  // namespace mlopt::cpu
