#include "core/rewrite/fusion/norm.h"

namespace mlopt::fusion {

std::optional<Tensor> by_channel(const Tensor& numbers, int64_t channels, size_t rank) {
  const size_t given = numbers.dims().size();
  if (numbers.size() != channels || given == 0 || given > rank || given + 1 < rank) return std::nullopt;
  const bool fits = numbers.dim(static_cast<int>(given + 1 - rank)) == channels;
  return fits ? std::optional(numbers.reshaped({channels})) : std::nullopt;
}

}  // namespace mlopt::fusion
