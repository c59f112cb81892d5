#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/train/builder.h"

namespace mlopt::train {

/// What a loss compares.
struct LossArgs {
  Builder& build;
  Value* output;               ///< of the model, its shape static
  double label_smoothing = 0;  ///< share of the target that goes to all classes alike
  bool mixed = false;          ///< samples are mixed, so that a label is a share of each class
};

/// A loss as it stands in the graph.
struct LossGraph {
  Value* labels;                     ///< the input that takes them, behind all other inputs; null: there are none
  Value* loss;                       ///< the mean over the batch, a scalar
  std::vector<Value*> learned = {};  ///< initializers of its own that are trained too, no part of the model
  int64_t classes =
      0;  ///< labels are of so many: the number of one, or where samples are mixed the shares of all; 0: none
  bool within_one = false;  ///< labels are from 0 to 1
};

struct LossDef {
  std::string_view name;
  std::string_view doc;  ///< one line
  LossGraph (*build)(LossArgs&);
  bool smooths = false;  ///< label smoothing changes it
};

// One a file.
LossGraph cross_entropy_loss(LossArgs& args);
LossGraph next_token_loss(LossArgs& args);
LossGraph mse_loss(LossArgs& args);
LossGraph l1_loss(LossArgs& args);
LossGraph bce_loss(LossArgs& args);

std::span<const LossDef> losses();
/// Null where there is none of that name.
const LossDef* find_loss(std::string_view name);

/// A new graph input "train/labels".
Value* add_labels(LossArgs& args, DType type, const Dims& dims);
/// Mean cross-entropy of logits [N, classes] and labels, int64 [N] or the shares of classes [N, classes] (Szegedy et
/// al. 2016 for the smoothing).
Value* mean_cross_entropy(LossArgs& args, Value* logits, Value* labels);

}  // namespace mlopt::train
