#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "quantize/weight_rounding.h"

namespace mlopt::quantize {

/// Weights that are trained in 8 bits first and in fewer and fewer from then on: all lose a bit at the same updates,
/// and each stops at the width that it is to have, so that with formats by layer those that matter most stop first
/// (after MoQ, the mixture of quantization of DeepSpeed). Each width is kept twice as long as the one before, and the
/// least is reached after a quarter of the training.
class FallingBits {
 public:
  /// Throws Error{kUsage} where no format has a width below 8 bits that others of its kind exceed, and for what
  /// WeightRounding does not do.
  FallingBits(const Model& model, const Spec& spec, int64_t updates);

  /// What weights become in this update, counted from 0.
  WeightRounding& at(int64_t update);
  /// The width that none is below in this update, where `least` is the one that is come to.
  static int bits_at(int64_t update, int64_t updates, int least);

 private:
  Model model_;
  Spec spec_;
  int64_t updates_;
  int least_, bits_ = 0;
  std::vector<std::string> names_;            ///< of what is rounded in the end
  std::unique_ptr<WeightRounding> rounding_;  ///< of `bits_`
};

}  // namespace mlopt::quantize
