#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/ir/model.h"

namespace mlopt::quantize {

/// Of each channel (axis 1) of a value, over places and samples.
struct Moments {
  std::vector<double> means, variances;
};
using MomentsByName = std::map<std::string, Moments>;

/// Of a normal variable that is cut to [low, high]: what Relu and Clip leave of it.
Moments clipped(const Moments& moments, double low, double high);

/// Of the same value with each channel divided by its scale; a value of other channels is left.
void divide(Moments& moments, const std::vector<double>& scale);

/// What training has left in the model of the values that it computes: BatchNormalization gives each channel a mean and
/// a variance, and the values that follow from such by Relu, Clip, Add, average pooling and what moves channels
/// together, taken as normal and independent, have theirs (as Nagel et al. 2019, appendix C). `known` is where it
/// begins, by name, and is in the result.
MomentsByName moments_of(const Model& model, MomentsByName known = {});

}  // namespace mlopt::quantize
