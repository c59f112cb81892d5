#include "core/autodiff/rules.h"

#include <algorithm>

namespace mlopt::autodiff {

std::vector<GradRule> all_rules() {
  std::vector<GradRule> all;
  for (const auto family : {attention_rules, binary_rules, convolution_rules, dropout_rules, einsum_rules, gather_rules,
                            layout_rules, legacy_rules, loss_rules, normalization_rules, pool_rules, product_rules,
                            quantize_rules, recurrent_rules, reduce_rules, resize_rules, softmax_rules, unary_rules}) {
    const std::span<const GradRule> rules = family();
    all.insert(all.end(), rules.begin(), rules.end());
  }
  return all;
}

const GradRule* find_rule(const Node& node) {
  static const std::vector<GradRule> kAll = all_rules();
  const auto found =
      std::find_if(kAll.begin(), kAll.end(), [&](const GradRule& rule) { return node.is(rule.op, rule.domain); });
  return found == kAll.end() ? nullptr : &*found;
}

}  // namespace mlopt::autodiff
