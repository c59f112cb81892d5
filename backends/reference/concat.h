#pragma once
#include <span>
#include <vector>

#include "backends/reference/compute.h"

namespace mlopt::reference {

/// `parts` (at least one, equal but for `axis`) joined along `axis`; fails naming the node when they do not fit.
Tensor concatenated(const Call& call, std::span<const Tensor> parts, int axis);

/// Consecutive pieces of `data` along `axis`; `lengths` must add up to at most the axis.
std::vector<Tensor> split_along(const Tensor& data, int axis, std::span<const int64_t> lengths);

}  // namespace mlopt::reference
