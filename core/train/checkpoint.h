#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "core/data/array_file.h"
#include "core/train/graphs.h"
#include "core/train/loss_scale.h"

namespace mlopt::train {

/// The best score on the validation data so far.
struct Best {
  std::optional<double> score = {};  ///< nothing: none was taken yet
  int64_t epochs_since = 0;
  NamedTensors weights = {};  ///< of the state then, where they are kept
};

/// Where a training stands beside what is in the state.
struct Standing {
  int64_t steps = 0;     ///< updates done
  double slower = 1;     ///< see Trainer::slow_down()
  std::string recipe;    ///< the configuration; a training goes on only under the same
  LossScale scale = {};  ///< where the graphs are scaled
  Best best = {};
};

/// What has to be known to go on: names of all values of the state but the gradients.
std::set<std::string> kept_names(const TrainingGraphs& graphs);

/// Makes the folder. Throws Error{kBadInput} where no checkpoint could be written there, or it has some of an earlier
/// training and this one does not `resume`.
void open_checkpoints(const std::string& folder, bool resume);

/// Writes parameters, statistics, moments and standing, with the best weights, to FOLDER/step-NNNNNNNN.npz, which
/// numpy.load reads, atomically; of older ones there the newest is kept. Throws Error{kBadInput} where it cannot write.
void save_checkpoint(const std::string& folder, const TrainingGraphs& graphs, const Standing& standing);

/// Puts the newest checkpoint of the folder that is whole into the state; `warn` is told of damaged ones. Nothing where
/// there is none. Throws Error{kBadInput} for one of another training.
std::optional<Standing> load_checkpoint(const std::string& folder, const TrainingGraphs& graphs,
                                        const std::string& recipe, const std::function<void(const std::string&)>& warn);

}  // namespace mlopt::train
