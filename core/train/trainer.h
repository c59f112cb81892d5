#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "core/exec/backend.h"
#include "core/train/checkpoint.h"
#include "core/train/communicator.h"
#include "core/train/feed.h"
#include "core/train/graphs.h"
#include "core/train/reducer.h"
#include "core/train/schedule.h"

namespace mlopt::train {

/// How long and in what portions.
struct LoopSettings {
  int64_t batch = 64;      ///< samples of an update, of all ranks together
  int64_t accumulate = 1;  ///< portions that they are computed in
  Schedule schedule;
  uint64_t seed = 0;
  Augmentation augmentation = {};
  std::shared_ptr<Communicator> ranks = single_communicator();
  int64_t bucket_bytes = 0;      ///< of gradients that ranks add up at once; 0: 4 MB on hosts, 25 MB on devices
  Compression compression = {};  ///< of gradients on their way to other ranks
  bool sync_batch_norm = false;  ///< BatchNormalization by the statistics of all ranks' parts of a batch
  int64_t local_steps = 1;       ///< updates that each rank makes by itself before they take the mean

  /// Samples that a rank computes at once.
  int64_t portion() const { return batch / accumulate / ranks->size(); }
};

/// What else is done to the state of a training, between its runs. Any may be empty.
struct TrainingHooks {
  /// Before each update, when `done` of them are.
  std::function<void(int64_t done, const TrainingGraphs& graphs)> before;
  /// Behind the last: the update behind which the training goes on, or nothing, when it has come to its end.
  std::function<std::optional<int64_t>(const TrainingGraphs& graphs)> after;
};

/// One update.
struct StepReport {
  int64_t step = 0;                  ///< from 1
  double loss = 0;                   ///< mean over its samples
  double rate = 0, norm = 0;         ///< learning rate; norm of the gradients before clipping, where they are clipped
  double compute_s = 0, wait_s = 0;  ///< in the graphs; for data
  double reduce_s = 0;               ///< for other ranks, when there was nothing to compute
  double loss_scale = 1;             ///< that the gradients were computed with
  bool skipped = false;              ///< they were not finite: parameters and moments stayed as they were
};

/// Takes a model through a training.
class Trainer {
 public:
  /// `graphs` and `data` must outlive it. Goes on from where a training stood.
  Trainer(const TrainingGraphs& graphs, const Dataset& data, Backend& backend, const CompileOptions& options,
          const LoopSettings& settings, const Standing& from = {});

  /// What the graph of gradients is fed next, which is then left out of the training: for a look at that graph.
  std::vector<Datum> next_inputs();
  /// The next update; all ranks make it. Throws Error{kBadInput} when the loss is not finite, or the gradients are not
  /// with any scale of the loss; the parameters are then those before it.
  StepReport step();
  /// Samples of an update.
  int64_t batch() const { return settings_.batch; }
  int64_t steps_in_epoch() const { return feed_->batches_in_epoch() / settings_.accumulate; }
  /// Nodes of the graph of gradients that another backend's kernels run.
  const std::vector<std::string>& fallback_nodes() const { return gradients_->fallback_nodes(); }
  /// All rates from now on times `factor`.
  void slow_down(double factor) { slower_ *= factor; }
  double slower() const { return slower_; }
  int64_t done() const { return done_; }
  /// Goes on as if `steps` updates were done: the order of the data, the rate and the number that the optimizer counts
  /// are those of then. What is in the state is the caller's to set.
  void rewind(int64_t steps);
  /// No update follows: lets go of the graphs, and of what they share with other ranks.
  void finish();
  const LossScale& loss_scale() const { return scale_; }
  /// What this rank's compressed gradients owe the next ones, see Reducer.
  NamedTensors residuals() const { return reducer_.residuals(); }
  void set_residuals(const NamedTensors& residuals) { reducer_.set_residuals(residuals); }
  /// Gives all ranks the mean of what each keeps of its own part of the data: running statistics, and between updates
  /// that they make by themselves, parameters and moments. All call it.
  void synchronize();
  Communicator& ranks() const { return *settings_.ranks; }

 private:
  double add_gradients(StepReport& report, int64_t portion);
  bool reduce(StepReport& report, bool usable);
  /// A device adds gradients up by itself; compressed ones go over the host.
  bool sums_on_device() const { return ranks().adds_up_state() && !settings_.compression.kind; }
  std::shared_ptr<StateSums> sums_of_gradients() const;
  bool shares_gradients() const { return ranks().size() > 1 && settings_.local_steps == 1; }
  void average(const std::vector<std::string>& names);
  MeanOverRanks mean_over_ranks();
  void update(StepReport& report);
  void skip(StepReport& report);

  /// Throws Error{kBadInput} for a loss that is not finite, with where that began.
  void check(double loss, std::span<const Datum> inputs) const;
  [[noreturn]] void fail(const std::string& what, std::span<const Datum> inputs) const;

  const TrainingGraphs& graphs_;
  Backend& backend_;
  CompileOptions options_;
  LoopSettings settings_;
  std::unique_ptr<Executable> gradients_, update_;
  const Dataset& data_;
  std::optional<Feed> feed_;
  Reducer reducer_;
  std::shared_ptr<StateSums> sums_;  ///< null: no device adds gradients up while it computes them
  int64_t done_;
  LossScale scale_;
  std::vector<Datum> inputs_;  ///< of the last portion, where losses are scaled
  double statistics_s_ = 0;    ///< in which the statistics of a batch waited for other ranks
  double slower_;
};

}  // namespace mlopt::train
