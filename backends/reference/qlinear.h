#pragma once
#include "backends/reference/compute.h"

namespace mlopt::reference {

/// Exact integer products. Operands are first centred (element - zero point) and stored as floats: float32 while every
/// sum stays below 2^24, else float64, so that the fast float kernels give the exact result.
struct Centred {
  Tensor values;       ///< float64
  double largest = 0;  ///< magnitude
};

/// `zero_point` (or null) has one element, or one for each index of `axis`, or the shape of x with other axes 1.
Centred centred(const Call& call, const Tensor& x, const Tensor* zero_point, int axis);

/// The matrix product (NumPy's matmul) of two centred tensors, exactly, as float64 holding integers.
Tensor exact_matmul(const Call& call, const Centred& a, const Centred& b);

/// saturate(round(accumulator * factor) + zero_point); factor[c] belongs to index c of `axis`, or one to all. A float8
/// type takes the product as it is.
Tensor requantized(const Call& call, const Tensor& accumulator, const std::vector<double>& factor, int axis,
                   const Tensor& zero_point);

/// a_scale * b_scale / y_scale in the scales' compute type, one for each element of the longer of a_scale and b_scale.
std::vector<double> requantization_factors(const Call& call, const Tensor& a_scale, const Tensor& b_scale,
                                           const Tensor& y_scale);

}  // namespace mlopt::reference
