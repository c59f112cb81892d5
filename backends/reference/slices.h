#pragma once
#include <cstdint>
#include <vector>

#include "backends/reference/compute.h"
#include "core/ir/graph.h"

namespace mlopt::reference {

/// The slice of `data` at `place` of `axis`, without that axis.
Tensor slice_at(const Tensor& data, int axis, int64_t place);

/// Slices of one type and shape (at least one) joined along a new axis.
Tensor stacked(const Call& call, const std::vector<Tensor>& slices, int axis);

/// What stacked() gives for no slices of the declared type of `slice`, or where that lacks axes, as the type of
/// `whole`, all of them, says; free dimensions become 0.
Tensor stacked_nothing(const Call& call, const Value& slice, int64_t axis, const Value* whole = nullptr);

/// Which of the node's bodies the attribute holds, counted as Node::bodies() does.
int body_index(const Call& call, std::string_view attr);

}  // namespace mlopt::reference
