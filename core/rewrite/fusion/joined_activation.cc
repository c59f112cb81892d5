#include "core/rewrite/fusion/joined_activation.h"

#include <algorithm>

#include "core/ir/read_activation.h"

namespace mlopt {
namespace {

/// ONNX Runtime wants as many parameters as its function has.
struct OrtActivation {
  std::string_view op;
  size_t params;
};

constexpr OrtActivation kOrtActivations[] = {{"Clip", 2}, {"HardSigmoid", 2}, {"LeakyRelu", 1},
                                             {"Relu", 0}, {"Sigmoid", 0},     {"Tanh", 0}};

}  // namespace

Expected<std::vector<Attr>> with_activation(std::vector<Attr> attrs, const Node& activation, const Builder& builder) {
  const auto act = activation_of(builder.view(activation));
  if (!act) return act.error();
  std::vector<float> params{act->a, act->b};
  if (builder.target == Target::kOrt) {
    const auto* known = std::ranges::find(kOrtActivations, activation.op, &OrtActivation::op);
    if (known == std::end(kOrtActivations)) return Decline{"ONNX Runtime does not join " + activation.op};
    params.resize(known->params);
  }
  attrs.push_back({"activation", act->fn == Fn::kGeluTanh ? "FastGelu" : activation.op, ""});
  if (!params.empty()) attrs.push_back({"activation_params", std::move(params), ""});
  return attrs;
}

}  // namespace mlopt
