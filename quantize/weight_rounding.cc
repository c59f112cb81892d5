#include "quantize/weight_rounding.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "core/calib/weights.h"
#include "core/tensor/cast.h"
#include "quantize/emit/dynamic.h"
#include "quantize/emit/weights.h"
#include "quantize/encode_weight.h"
#include "quantize/restore/passes.h"
#include "quantize/store_weights.h"

namespace mlopt::quantize {
namespace {

void check(const Spec& spec) {
  const Method& method = find_method(spec.method);
  if (method.look == Look::kProducts || method.prepare || method.blocks || method.use == Use::kActivations)
    usage_error(fmt::format("{} looks at data, and codes are chosen anew at each update", spec.method), "--qat",
                "leave the method out, or choose rtn, mse or hqq");
  const char* beside = spec.equalize              ? "equalize"
                       : spec.correct_bias        ? "correct_bias"
                       : spec.rotate              ? "rotate"
                       : spec.outliers > 0        ? "outliers"
                       : spec.sparse_outliers > 0 ? "sparse_outliers"
                                                  : nullptr;
  if (beside)
    usage_error(fmt::format("{} is for weights that are not trained", beside), "--qat",
                "leave it out: training makes up for what it would");
}

}  // namespace

WeightRounding::WeightRounding(const Model& model, const Spec& spec) : model_(clone(model)) {
  check(spec);
  if (spec.format == Format::kWeights)
    add_codes(spec);
  else if (spec.format == Format::kW8A8Dynamic)
    add_dynamic(spec);
  else
    add_halves(spec);
}

void WeightRounding::add_codes(const Spec& spec) {
  const Method& method = find_method(spec.method);
  for (const PlannedWeight& p : planned_weights(model_, spec))
    made_[p.weight.name()] = [p, &method] {
      const EncodedWeight made = encode_weight(p.weight, method, p.spec.scheme(), nullptr, p.rectified);
      if (!made.finite) input_error("the weight is no longer finite", p.weight.name(), "train with a lower --lr");
      const Matrix values = decode(made.coded);
      std::optional<Tensor>& constant = p.weight.value->constant;
      constant = Tensor::of<float>(constant->dims(), to_floats(*constant));  // what it has is the parameter's own
      store(p.weight, values);
      return *constant;
    };
}

void WeightRounding::add_dynamic(const Spec& spec) {
  for (const Node* node : dynamic_products(model_, spec))
    made_[node->input(1)->name] = [node, spec] {
      const QuantizedWeight q = dynamic_codes(*node, spec);
      return decoded(q.codes, q.scale, nullptr, weight_axis(*node));
    };
}

void WeightRounding::add_halves(const Spec& spec) {
  const DType type = spec.format == Format::kF16 ? DType::kF16 : DType::kBF16;
  for (const Weight& w : find_weights(model_, {.only = spec.only, .skip = spec.skip, .stored_only = true}).weights)
    if (w.value->constant->dtype() == DType::kF32)
      made_[w.name()] = [value = w.value, type] { return cast(cast(*value->constant, type), DType::kF32); };
}

std::vector<std::string> WeightRounding::names() const {
  std::vector<std::string> names;
  for (const auto& entry : made_) names.push_back(entry.first);
  return names;
}

void WeightRounding::keep(const std::vector<std::string>& names) {
  std::erase_if(made_,
                [&](const auto& entry) { return std::find(names.begin(), names.end(), entry.first) == names.end(); });
}

Tensor WeightRounding::rounded(const std::string& name, const Tensor& weight) {
  model_.graph->find(name)->constant = weight;
  return made_.at(name)();
}

}  // namespace mlopt::quantize
