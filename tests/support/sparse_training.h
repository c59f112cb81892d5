#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/train/trainer.h"
#include "tests/support/net.h"

namespace mlopt::test {

/// What a small training left: 6 inputs, of which the data need the first two only, 16 neurons ("w", "b"), 1 number
/// ("v", "c"); 400 updates.
struct SparseTraining {
  static constexpr int64_t kSteps = 400;
  std::map<std::string, std::vector<double>> weights, at_end;  ///< after three quarters of the updates, and all
  double first = 0, last = 0;                                  ///< losses of updates
};

Net sparse_network();
/// The same with its neurons normalized by the batch, before they are cut off at 0: "scale", "shift", "mean", "var".
Net normalized_network();
/// With what `change` does to the recipe; at `rate`.
SparseTraining train_sparse(const Net& net, const std::function<void(train::Recipe& recipe)>& change,
                            const train::TrainingHooks& hooks = {}, double rate = 0.01);
/// The mean squared error over all data of the network with these weights.
double error_with(const std::map<std::string, std::vector<double>>& weights);
/// The share of zeros.
double zeros(const std::vector<double>& weights);

}  // namespace mlopt::test
