#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/rewrite/pass.h"

namespace mlopt::prune {

/// A value that all that comes behind it hangs on alone: where a classifier can be left.
struct ExitPlace {
  std::string value;
  int64_t macs = 0;  ///< that lead to it, of a run of one sample
};

/// In the order of the graph; of those with as many multiply-accumulates before them only the last. Throws
/// Error{kUnsupported} for a model that is no classifier in single precision (one output [N, classes]), or whose batch
/// is fixed at several samples: each sample decides for itself.
std::vector<ExitPlace> exit_places(const Model& model, TypeRule standard);

/// What leads to a place, and a small classifier there: of pictures a 3x3 convolution and the mean over places, of
/// tokens the mean over them, then a linear layer.
struct ExitModel {
  Model model;                       ///< one output, as the source's but before its Softmax
  std::vector<std::string> weights;  ///< of the classifier, drawn by the seed
};
ExitModel with_exit_head(const Model& source, const ExitPlace& place, TypeRule standard, uint64_t seed);

/// What comes behind the place, alone.
Model behind(const Model& source, const ExitPlace& place);

/// A model with the inputs and outputs of the source: samples of which the exit is at least as sure as `confidence`
/// (its largest probability) have what it says (BranchyNet, Teerapittayanon et al. 2016), for all others the rest of
/// the source is run, if there are any (If): of a batch, with these only. `trained` is ExitModel::model.
Model with_exit(const Model& source, const Model& trained, const ExitPlace& place, double confidence,
                TypeRule standard);

}  // namespace mlopt::prune
