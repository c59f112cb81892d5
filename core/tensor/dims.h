#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace mlopt {

/// A concrete shape; a scalar has none.
using Dims = std::vector<int64_t>;

/// Product of the dimensions; throws Error{kBadInput} for a negative dimension or when the product exceeds 2^48.
int64_t element_count(const Dims& dims);
/// "1x3x224x224", "scalar".
std::string to_string(const Dims& dims);
/// Row-major strides in elements.
Dims row_major_strides(const Dims& dims);
/// `axis` counted from the front; throws Error{kBadInput} outside [-rank, rank).
int normalize_axis(int64_t axis, int64_t rank);
/// The shape of a and b under NumPy's broadcasting; throws Error{kBadInput} naming both.
Dims broadcast(const Dims& a, const Dims& b);

}  // namespace mlopt
