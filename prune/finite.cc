#include "prune/finite.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace mlopt::prune {
namespace {

template <class T>
void require(std::span<const T> numbers, const std::string& weight) {
  if (!std::all_of(numbers.begin(), numbers.end(), [](T x) { return std::isfinite(x); }))
    input_error("the weight holds NaN or infinity, which cannot be compared", weight,
                fmt::format("mend it, or leave out what it is a part of (--skip {})", weight));
}

}  // namespace

void require_finite(std::span<const float> numbers, const std::string& weight) { require(numbers, weight); }

void require_finite(std::span<const double> numbers, const std::string& weight) { require(numbers, weight); }

void require_ordered(std::span<const double> scores, const std::string& part) {
  if (std::any_of(scores.begin(), scores.end(), [](double x) { return std::isnan(x); }))
    input_error("how much it is needed is NaN", part, "look for NaN in its weights, and in the data");
}

}  // namespace mlopt::prune
