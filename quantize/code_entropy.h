#pragma once
#include <cstdint>

#include "quantize/coded.h"

namespace mlopt::quantize {

/// Bytes of a weight whose codes an entropy coder writes (arithmetic coding comes within a fraction of a percent): each
/// in -log2 of its share of all codes of the tensor, with the table of these shares, scales, zero points and codebooks.
/// Codes that stand for 0 are one, whatever they are in their groups, so that what was pruned costs little. What Deep
/// Compression (Han et al. 2016) does with Huffman codes and distances between weights.
int64_t entropy_coded_bytes(const Coded& coded);

}  // namespace mlopt::quantize
