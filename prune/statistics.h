#pragma once
#include "prune/prune.h"

namespace mlopt::prune {

/// Corrects in a pruned model, from its inputs to its outputs, what normalizations and biases still have from the
/// `original`, whose values have the same names, on data without labels: the means and variances of
/// BatchNormalizations change as those of what they are given have, so that few samples tell; layers that no
/// BatchNormalization follows (it may have been folded) are multiplied and shifted, by their weights and biases, so
/// that each output channel has the mean and variance that it had. (The mean alone, Nagel et al.'s "bias correction" of
/// 2019, lets what varies less fade away behind a ReLU.) Zeros stay. Gives the number of nodes that were corrected.
int64_t correct_statistics(Model& model, const Model& original, const Means& means);

}  // namespace mlopt::prune
