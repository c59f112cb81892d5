#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/train/options.h"
#include "distill/wiring.h"

namespace mlopt::cli {

/// What `distill` takes beside what `train` does.
struct DistillOptions {
  TrainOptions train;
  std::vector<std::string> teachers, match, weights;
  double temperature = 4;
  std::optional<double> alpha;
  std::string soft, student, cache;
  std::optional<int64_t> data_free;  ///< samples
  int64_t data_free_steps = 200;
};
void declare_distill(Options& options, DistillOptions& distill);

/// What the options mean for these data; throws Error{kUsage} where they do not fit together.
distill::Settings settings_of(const DistillOptions& options, const train::Recipe& recipe, const Dataset& data);
/// Throws Error{kUsage} where --data-free makes no sense beside the others.
void check_data_free(const DistillOptions& options);
/// What they add to the spec of the training.
std::string spec_of(const DistillOptions& options);

}  // namespace mlopt::cli
