#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/ir/model.h"

namespace mlopt {

/// Where every output of the model holds, one after the other, what it would hold for each of `count` samples alone:
/// the dims of a sample in what each node gives, empty where it has none. Nothing where that is not certain. The
/// samples lie along axis 0 of the inputs that `batched` marks, the other inputs are the same for all; shapes are bound
/// and inferred. What looks like it for one count by chance has other dims for another count.
std::optional<std::vector<Dims>> dims_of_samples(const Model& model, const std::vector<bool>& batched, int64_t count);

}  // namespace mlopt
