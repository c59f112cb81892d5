#include "backends/reference/named_activation.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <string>

#include "backends/reference/compute.h"

namespace mlopt::reference {

std::optional<Activation> find_activation(std::string_view name) {
  using Kind = Activation::Kind;
  constexpr double kMax = std::numeric_limits<double>::infinity();
  static constexpr struct {
    std::string_view name;
    Activation activation;
  } kTable[] = {
      {"relu", {Kind::kRelu}},
      {"tanh", {Kind::kTanh}},
      {"sigmoid", {Kind::kSigmoid}},
      {"affine", {Kind::kAffine, 1, 0, true, true}},
      {"leakyrelu", {Kind::kLeakyRelu, 0.01, 0, true, false}},
      {"thresholdedrelu", {Kind::kThresholdedRelu, 1, 0, true, false}},
      {"scaledtanh", {Kind::kScaledTanh, 1, 1, true, true}},
      {"hardsigmoid", {Kind::kHardSigmoid, 0.2, 0.5, true, true}},
      {"elu", {Kind::kElu, 1, 0, true, false}},
      {"softsign", {Kind::kSoftsign}},
      {"softplus", {Kind::kSoftplus}},
      {"clip", {Kind::kClip, -kMax, kMax, true, true}},
      {"swish", {Kind::kSwish, 1, 0, true, false}},
      {"hardswish", {Kind::kHardSwish, 1.0 / 6, 0.5, true, true}},
      {"silu", {Kind::kSwish, 1, 0, true, false}},
      {"gelu", {Kind::kGelu}},
      {"fastgelu", {Kind::kGeluTanh}},
  };
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const auto& row : kTable)
    if (row.name == lower) return row.activation;
  return std::nullopt;
}

std::optional<Activation> fused_activation(const Call& call) {
  const std::string name = call.view.get_string("activation", "");
  auto activation = find_activation(name);
  if (!name.empty() && !activation) fail(call, fmt::format("unknown activation '{}'", name));
  const std::vector<float> parameters = call.view.get_floats("activation_params");
  if (activation && !parameters.empty()) activation->alpha = parameters[0];
  if (activation && parameters.size() > 1) activation->beta = parameters[1];
  return activation;
}

}  // namespace mlopt::reference
