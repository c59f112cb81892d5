#pragma once
#include <vector>

#include "core/rewrite/pass.h"

namespace mlopt::graphopt {

/// A Conv as a sum over taps: y[o] = b + sum over k of w[k] x[o stride + k dilation - begin], on each spatial axis,
/// with zeros around x. All numbers are constant.
struct ConvTaps {
  const Node* conv = nullptr;
  Dims dims;                                               ///< of the weight: [M, C / group, kernel...]
  std::vector<int64_t> strides, dilations, begins, spans;  ///< spans: pads less what the kernel reaches beyond one
  int64_t group = 1;
  std::vector<double> w, b;  ///< b: [M]

  static Expected<ConvTaps> of(const Node& conv, const Builder& builder);
  /// x times a number for each channel as such a Conv of one tap; nothing where that has not the shape of what this
  /// gives.
  std::optional<ConvTaps> of_channels(const std::vector<double>& scale, const std::vector<double>& shift) const;

  void scale(double factor);
  /// Adds what gives a value of the same shape and has taps only where this has some; false where it has not.
  bool add(const ConvTaps& other);
  /// As a Conv in the place of the one that this was made of.
  Expected<Replacement> written(Builder& builder) const;
};

/// The sum or difference of two of one value, with constant weights, as one.
Rule sum_of_convs();

}  // namespace mlopt::graphopt
