#include "backends/gpu/half.h"

#include <algorithm>
#include <iterator>

#include "backends/gpu/kernels.h"
#include "core/rewrite/compute_in_half.h"
#include "core/rewrite/half_rules.h"

namespace mlopt::gpu {
namespace {

/// Operators that make codes or long sums of float32, or are given float32 by definition.
constexpr std::string_view kFloat32[] = {"CumSum",
                                         "DequantizeLinear",
                                         "DynamicQuantizeLinear",
                                         "DynamicQuantizeMatMul",
                                         "MatMulIntegerToFloat",
                                         "QGemm",
                                         "QuantizeLinear",
                                         "Range"};

std::string why_float(const Node& node) {
  if (node.op.starts_with("QLinear") ||
      std::find(std::begin(kFloat32), std::end(kFloat32), node.op) != std::end(kFloat32))
    return "it is float32 by definition";
  return is_runnable(node) ? "" : "no kernel of the GPU runs it";
}

/// Inputs from `first` on that kernels take in float32 only, or also.
struct Keeps {
  std::string_view op;
  size_t first, last;
};
constexpr Keeps kKeeps[] = {
    {"Attention", 3, 3},           // the mask
    {"BatchNormalization", 1, 4},  // statistics
    {"Resize", 1, 2},              // the region and the scales
    {"Upsample", 1, 1},
};

bool keeps_input(const Node& node, size_t input) {
  return node.domain.empty() && std::any_of(std::begin(kKeeps), std::end(kKeeps), [&](const Keeps& k) {
           return k.op == node.op && k.first <= input && input <= k.last;
         });
}

}  // namespace

HalfPrecision::HalfPrecision(const Model& model, DType type) : type_(type) {
  for (const Value* v : model.graph->initializers())
    if (v->constant && v->constant->dtype() == DType::kF32) weights_[v->constant->raw()] = {*v->constant, {}};
}

Tensor HalfPrecision::rounded(const Tensor& constant) {
  const std::lock_guard lock(mutex_);
  const auto known = weights_.find(constant.raw());
  if (known == weights_.end() || known->second.source.dims() != constant.dims()) return half::rounded(constant, type_);
  Kept& kept = known->second;
  if (kept.half.dtype() != type_) kept.half = half::rounded(constant, type_);
  return kept.half;
}

void HalfPrecision::apply(Model& model) {
  compute_in_half(model, {.type = type_,
                          .why_float = why_float,
                          .keeps_input = keeps_input,
                          .sums_in_float32 = true,
                          .round = [this](const Tensor& constant) { return rounded(constant); }});
}

}  // namespace mlopt::gpu
