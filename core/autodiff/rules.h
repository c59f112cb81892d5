#pragma once
#include <span>

#include "core/autodiff/rule.h"

namespace mlopt::autodiff {

/// One span of rules for each operator family, in the file of the same name under rules/.
std::span<const GradRule> attention_rules();
std::span<const GradRule> binary_rules();
std::span<const GradRule> convolution_rules();
std::span<const GradRule> dropout_rules();
std::span<const GradRule> einsum_rules();
std::span<const GradRule> gather_rules();
std::span<const GradRule> layout_rules();
std::span<const GradRule> legacy_rules();
std::span<const GradRule> loss_rules();
std::span<const GradRule> normalization_rules();
std::span<const GradRule> pool_rules();
std::span<const GradRule> product_rules();
std::span<const GradRule> quantize_rules();
std::span<const GradRule> recurrent_rules();
std::span<const GradRule> reduce_rules();
std::span<const GradRule> resize_rules();
std::span<const GradRule> softmax_rules();
std::span<const GradRule> unary_rules();

}  // namespace mlopt::autodiff
