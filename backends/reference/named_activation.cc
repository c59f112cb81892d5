#include "backends/reference/named_activation.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <string>

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
  };
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const auto& row : kTable)
    if (row.name == lower) return row.activation;
  return std::nullopt;
}

}  // namespace mlopt::reference
