#pragma once
#include <span>
#include <string_view>

#include "quantize/scheme.h"

namespace mlopt::quantize {

/// The numbers of one group, which are to share an alphabet.
struct Group {
  const Scheme& scheme;
  std::span<const float> values;
  std::span<const float> importance;  ///< for each: how much its squared error counts; empty: the same for all
  std::span<float> codebook;          ///< of kCodebook: where the values go, [2^bits], to ascend
};

/// Chooses what the codes of a group stand for. One file a fit; infinities and NaN among the values are passed over.
using Fit = Alphabet (*)(const Group& group);

/// What the codes stand for when they are to reach from `low` <= 0 to `high` >= 0: uniform levels around zero or with a
/// zero point, or a table that is stretched.
Alphabet alphabet_over(const Scheme& scheme, double low, double high);

/// From the least to the largest value, 0 included.
Alphabet fit_minmax(const Group& group);
/// The part of that range whose rounding and clipping have the least squared error.
Alphabet fit_mse(const Group& group);
/// Half-quadratic splitting: the zero point is moved so that the error's p-norm, p = 0.7, is least (Badri and Shaji
/// 2023, "Half-Quadratic Quantization of Large Machine Learning Models"). Uniform levels only.
Alphabet fit_hqq(const Group& group);
/// Values of the least squared error: the optimum of one-dimensional k-means.
Alphabet fit_codebook(const Group& group);

}  // namespace mlopt::quantize
