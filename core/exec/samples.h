#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/ir/model.h"

namespace mlopt {

/// Where every output of the model holds, one after the other, what it would hold for each of `count` samples alone:
/// how many rows a sample has in what each node gives, 0 where it has none. Nothing where that is not certain. The
/// samples lie along axis 0 of the inputs that `batched` marks, the other inputs are the same for all; shapes are bound
/// and inferred. What looks like it for one count by chance has other rows for another count.
std::optional<std::vector<int64_t>> rows_of_samples(const Model& model, const std::vector<bool>& batched,
                                                    int64_t count);

}  // namespace mlopt
