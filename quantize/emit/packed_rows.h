#pragma once
#include <vector>

#include "core/tensor/tensor.h"

namespace mlopt::quantize {

/// Rows of `width` codes of 2, 4 or 8 bits as uint8 [dims], as many bytes for each row, the first code of a byte in its
/// low bits: what a row does not fill is 0.
Tensor packed_rows(const std::vector<uint8_t>& codes, int64_t width, int bits, const Dims& dims);

/// The block of operators of com.microsoft that `columns` in groups of so many (0: all of them) are: a row that is one
/// group is a block that it may not fill.
int64_t block_of(int64_t group, int64_t columns);

}  // namespace mlopt::quantize
