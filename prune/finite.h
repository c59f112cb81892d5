#pragma once
#include <span>
#include <string>

namespace mlopt::prune {

/// Throws Error{kBadInput} naming the weight where one of its numbers, or of sums of them, is NaN or infinite: what is
/// needed least cannot be told then.
void require_finite(std::span<const float> numbers, const std::string& weight);
void require_finite(std::span<const double> numbers, const std::string& weight);

/// Throws Error{kBadInput} naming a part of the model whose scores, by any method, have no order.
void require_ordered(std::span<const double> scores, const std::string& part);

}  // namespace mlopt::prune
