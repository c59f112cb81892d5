#pragma once
#include <span>

#include "core/data/dataset.h"

namespace mlopt {

/// Throws Error{kBadInput} unless `value`, that of an input without axes in a sample, is the `expected` one: such an
/// input is no part of a sample, so all samples that a model takes at once have to agree on it.
void require_same_setting(const Tensor& value, const Tensor& expected, const std::string& sample);

/// The samples of these indices, stacked in this order; of inputs without axes one. Throws as Dataset::batch(), and
/// require_same_setting().
Batch gather(const Dataset& data, std::span<const int64_t> which);

}  // namespace mlopt
