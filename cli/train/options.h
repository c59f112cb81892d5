#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/verb/verb.h"
#include "core/train/trainer.h"

namespace mlopt::cli {

/// What `train` takes beside what every verb takes.
struct TrainOptions {
  VerbOptions verb;
  std::string val, loss, optimizer = "adamw", schedule = "cosine", batch_norm = "train", output, log, checkpoint,
                         augment, compress, sync, qat, qat_schedule = "constant", layer_plan, tensorboard, html,
                         recompute, offload, dropout = "model", precision = "fp32";
  std::optional<int64_t> epochs, steps, checkpoint_every, patience, batch_size;
  int64_t accumulate = 1, warmup_steps = 0;
  int64_t calibration_samples = 128;  ///< of a pruning before it
  std::optional<double> rate, momentum, clip;
  std::optional<double> bucket_mb;  ///< of 2^20 bytes; nothing: as suits who adds up
  double weight_decay = 0, average = 0, label_smoothing = 0;
  std::vector<std::string> trainable, freeze, keep_fp32;
  bool reset_weights = false, keep_zeros = false, resume = false;

  /// Samples of an update where there are so many: all, where the usual number is more.
  int64_t batch_of(int64_t samples) const;
};
void declare_train(Options& options, TrainOptions& train);

/// The recipe and the loop that the options mean for this model and `samples` samples; throws Error{kUsage} where they
/// do not fit together.
train::Recipe recipe_of(const TrainOptions& options, const Model& model);
train::LoopSettings loop_of(const TrainOptions& options, int64_t samples, uint64_t seed);
/// How the ranks share the loop. Throws Error{kUsage} where the batch has no equal parts for them.
void share_loop(const TrainOptions& options, const std::shared_ptr<train::Communicator>& ranks,
                train::LoopSettings& loop);
/// All that makes the same updates again: not --patience, which only says how many.
std::string spec_of(const TrainOptions& options, const train::LoopSettings& loop);

}  // namespace mlopt::cli
