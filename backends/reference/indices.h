#pragma once
#include <cstdint>
#include <vector>

#include "backends/reference/compute.h"

namespace mlopt::reference {

/// The elements of an int32 or int64 tensor as places of an axis: negative ones count from the end; fails outside.
std::vector<int64_t> axis_indices(const Call& call, const Tensor& indices, int64_t length);

/// GatherElements' and ScatterElements' addressing: for each element of `indices`, the offset in a tensor of `dims` of
/// the element at the same place but for `axis`, where it is the index.
std::vector<int64_t> element_offsets(const Call& call, const Tensor& indices, const Dims& dims, int axis);

/// GatherND's and ScatterND's addressing: each row of the last axis of `indices` names a place on the axes from `first`
/// on of a tensor of `dims`; its offset.
std::vector<int64_t> tuple_offsets(const Call& call, const Tensor& indices, const Dims& dims, size_t first = 0);

}  // namespace mlopt::reference
