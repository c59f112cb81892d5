#pragma once
#include <string>
#include <vector>

#include "core/calib/weights.h"
#include "core/ir/model.h"
#include "quantize/coded.h"

namespace mlopt::quantize {

/// A weight each of whose numbers goes down or up to the next value, as is learned (Nagel et al. 2020, "Up or Down?
/// Adaptive Rounding for Post-Training Quantization").
class SoftWeight {
 public:
  /// `nearest`: codes and what they stand for.
  SoftWeight(Weight weight, Coded nearest);

  const std::string& name() const { return weight_.name(); }
  /// What the codes stand for, in the weight's place.
  Tensor values() const;
  /// Puts below + step * share(learned) in the place of the weight of that name in the graph, where `learned` is a new
  /// initializer of the name `variable` that begins with the numbers as they were. Gives the share, between 0 and 1.
  Value* soften(Model& part, const std::string& variable) const;
  /// The codes become those of what was learned.
  void harden(const Tensor& learned);

  const Coded& coded() const { return coded_; }
  void set(Coded coded) { coded_ = std::move(coded); }
  const Weight& weight() const { return weight_; }

 private:
  struct Between;
  size_t at(int64_t r, int64_t c) const;
  Between between() const;

  Weight weight_;
  Coded coded_;
};

}  // namespace mlopt::quantize
