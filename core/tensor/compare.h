#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/tensor/tensor.h"

namespace mlopt {

/// How far `actual` is from `expected`, element by element, in double.
struct Difference {
  double max_abs = 0;       ///< largest |a - e|
  double max_rel = 0;       ///< largest |a - e| / max(|e|, 1e-30) where e is not 0
  double max_expected = 0;  ///< largest |e| that is finite
  double sqnr_db = 0;       ///< 10 log10(sum e^2 / sum (a - e)^2); infinity when equal
  double cosine = 1;        ///< 1 when both are zero
  /// Share of rows (last axis) whose arg-max agrees, or of integers below rank 2 that are equal; 1 where there are
  /// none: a vector may hold one number for each sample.
  double argmax_agreement = 1;
  int64_t rows = 0;            ///< that were looked at for it
  bool same_nonfinite = true;  ///< NaN and infinities at the same places
  bool lost_numbers = false;   ///< NaN or an infinity where a number is expected
  int64_t worst = -1;          ///< index of the largest difference
};

/// The difference of several pairs of tensors, as if each side were one tensor.
class DifferenceSum {
 public:
  /// Numeric or bool tensors of the same shape, both complex or neither (types may differ); throws Error{kBadInput} for
  /// others.
  void add(const Tensor& actual, const Tensor& expected);
  /// `worst` counts through all pairs.
  Difference result() const;

 private:
  void add_rows(const std::vector<double>& actual, const std::vector<double>& expected, int64_t row);

  Difference found_;
  double signal_ = 0, noise_ = 0, dot_ = 0, actual_norm_ = 0;
  int64_t elements_ = 0, rows_ = 0, agreeing_ = 0;
};

/// All elements as double; real and imaginary parts one after the other.
std::vector<double> real_numbers(const Tensor& tensor);

/// As DifferenceSum, of one pair.
Difference difference(const Tensor& actual, const Tensor& expected);

/// Nothing when equal within |a - e| <= atol + rtol |e| (integers, bools and strings exactly; NaN equals NaN), else one
/// sentence naming the worst element; types and shapes are compared too.
std::optional<std::string> mismatch(const Tensor& actual, const Tensor& expected, double rtol, double atol);

}  // namespace mlopt
