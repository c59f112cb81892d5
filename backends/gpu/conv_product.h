#pragma once
#include <optional>

#include "backends/gpu/operand.h"

namespace mlopt::gpu {

/// How the columns of a convolution become products: whole images in turn, so that what is made for them stays in the
/// device's cache between being written and read.
struct ConvColumns {
  int64_t m, k, n;  ///< channels out, taps and channels in of a group; positions of an image
  int64_t images;   ///< of one product
  size_t bytes;     ///< of their columns; 0: the images are columns as they are
};

/// By products is faster where tensor cores, or the library's tiles, meet matrices of some size: groups of 16 channels
/// out and 16 numbers a window at least, 8 groups at most, and columns of one image that are no more than 64 MB.
/// `width`: bytes of a number; the counts of numbers and positions of an image are rounded up to multiples (1: not at
/// all).
std::optional<ConvColumns> conv_columns(const ConvArgs& args, int64_t width, int64_t round_k = 1, int64_t round_n = 1);

/// The same for a transposed convolution, whose columns, by products of its weights, are put together behind.
std::optional<ConvColumns> transposed_columns(const ConvArgs& args, int64_t width);

/// The transposed convolution by products where that is faster; inputs are (x, weights, bias, addend).
std::optional<PlannedStep> transposed_by_product(const Site& site, const TensorDesc& out, const ConvArgs& args);

/// The convolution by products where that is faster; inputs are (x, weights, bias, addend).
std::optional<PlannedStep> conv_by_product(const Site& site, const TensorDesc& out, const ConvArgs& args);

}  // namespace mlopt::gpu
