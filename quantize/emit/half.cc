#include "quantize/emit/half.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "core/rewrite/compute_in_half.h"
#include "quantize/plan.h"

namespace mlopt::quantize {
namespace {

/// Operators with an input that is float32 by definition, or without a float16 kernel in runtimes.
constexpr std::string_view kFloat32[] = {"Resize",
                                         "Upsample",
                                         "NonMaxSuppression",
                                         "RoiAlign",
                                         "IsInf",
                                         "CumSum",
                                         "QuantizeLinear",
                                         "DequantizeLinear",
                                         "DynamicQuantizeLinear",
                                         "QLinearConv",
                                         "QLinearMatMul",
                                         "RandomNormal",
                                         "RandomUniform",
                                         "RandomNormalLike",
                                         "RandomUniformLike",
                                         "Multinomial",
                                         "Range",
                                         "DFT",
                                         "STFT",
                                         "MelWeightMatrix",
                                         "Celu",
                                         "MeanVarianceNormalization",
                                         "Loop",
                                         "If",
                                         "Scan"};

std::string why_float(const Node& node, const Spec& spec) {
  if (!chosen(node, spec)) return "excluded by --only or --skip";
  if (!node.domain.empty()) return "its domain is not the standard's";
  const bool listed = std::find(std::begin(kFloat32), std::end(kFloat32), node.op) != std::end(kFloat32);
  return listed ? "it has no float16 form that runtimes run" : "";
}

}  // namespace

Emitted emit_half(Model& model, const Spec& spec) {
  const auto reason = [&](const Node& node) { return why_float(node, spec); };
  ComputedInHalf done = compute_in_half(model, {.type = DType::kF16, .why_float = reason});
  Emitted emitted;
  emitted.left = std::move(done.left);
  for (const HalfLayer& layer : done.layers)
    emitted.layers.push_back({layer.name, layer.op, layer.source, layer.result});
  return emitted;
}

}  // namespace mlopt::quantize
