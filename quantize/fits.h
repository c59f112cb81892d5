#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "quantize/scheme.h"

namespace mlopt::quantize {

/// Of a rectified normal variable: its mean squared over its variance.
inline constexpr double kRectifiedShift = 0.467;

/// The numbers of one group, which are to share an alphabet.
struct Group {
  const Scheme& scheme;
  std::span<const float> values;
  std::span<const float> importance;  ///< for each: how much its squared error counts; empty: nothing was seen
  std::span<float> codebook;          ///< of kCodebook: where the values go, [2^bits], to ascend
  double shift = 0;  ///< of what they are multiplied by: the mean squared over the variance; 0: unknown, or no mean

  float weight(size_t i) const { return importance.empty() ? 1 : importance[i]; }
};

/// How much errors count by the squares of what they are multiplied by: 1 in the mean, and a little where nothing was
/// seen. All 1 where that is so of all, or where the squares are not finite.
std::vector<float> importance(std::span<const double> squares);

/// Chooses what the codes of a group stand for. One file a fit; infinities and NaN among the values are passed over.
using Fit = Alphabet (*)(const Group& group);

/// What the codes stand for when they are to reach from `low` <= 0 to `high` >= 0: uniform levels around zero or with a
/// zero point, or a table that is stretched.
Alphabet alphabet_over(const Scheme& scheme, double low, double high);

/// What rounding a group to an alphabet costs the outputs of its layer: the weighted sum of squared errors. Where
/// nothing was seen, large weights count more, and inputs that have a mean make the errors' sum count too.
double squared_error(const Group& group, const Alphabet& alphabet);
/// The sum of |error|^p with p = 3/4: two roots, where Badri and Shaji's 0.7 takes a logarithm.
double sparse_error(const Group& group, const Alphabet& alphabet);

/// From the least to the largest value, 0 included; signs have the mean magnitude.
Alphabet fit_minmax(const Group& group);
/// The part of that range whose rounding and clipping have the least squared error.
Alphabet fit_mse(const Group& group);
/// The scale and zero point whose errors have the least p-norm, p < 1, as half-quadratic quantization wants them (Badri
/// and Shaji 2023, "Half-Quadratic Quantization of Large Machine Learning Models"), and no larger squared error than
/// the whole range. The paper's iterations move a zero point that is no integer, which runtimes are slow with; here
/// integers are searched. Tables are fitted as fit_mse() does.
Alphabet fit_hqq(const Group& group);
/// Of {-1, 0, 1}: the scale and the threshold, half of it, of the least squared error. It is the mean of the k largest
/// magnitudes for the k whose sum squared over k is largest (as Li, Zhang and Liu 2016, "Ternary Weight Networks", have
/// it before they approximate it).
Alphabet fit_ternary(const Group& group);
/// Values of the least squared error: the optimum of one-dimensional k-means.
Alphabet fit_codebook(const Group& group);

}  // namespace mlopt::quantize
