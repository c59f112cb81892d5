#pragma once
#include <fstream>
#include <functional>
#include <optional>
#include <vector>

#include "cli/train/options.h"
#include "core/calib/score.h"
#include "core/exec/runner.h"
#include "core/report/tensorboard.h"
#include "core/train/checkpoint.h"
#include "core/train/interrupt.h"

namespace mlopt::cli {

/// One time through the data.
struct Epoch {
  int64_t number = 0;                        ///< from 1
  double loss = 0;                           ///< mean over its updates
  double seconds = 0, wait = 0, reduce = 0;  ///< all, for data, for other ranks
  std::optional<Score> score = {};           ///< on the validation data
};

/// The score of the weights as they are now on the validation data.
class Validation {
 public:
  /// `finish` makes of the weights' model what is scored; empty: it is that.
  Validation(const TrainOptions& o, const Model& model, Backend& backend, const Session& session,
             std::function<void(Model&)> finish = {});
  /// Nothing without --val and --metric.
  std::optional<Score> score(const train::TrainingGraphs& graphs) const;

 private:
  const Model& model_;
  std::function<void(Model&)> finish_;
  Runner runner_;
  std::unique_ptr<Dataset> data_;
  ScoreOptions options_;
};

/// A training from its first update, or the one after a checkpoint, to its last.
class Training {
 public:
  /// `spec` names it in its checkpoints.
  Training(const TrainOptions& o, const train::TrainingGraphs& graphs, train::Trainer& trainer, const Validation& val,
           const std::string& spec, Session& session);

  void set_hooks(train::TrainingHooks hooks) { hooks_ = std::move(hooks); }

  /// Leaves the last weights in the state, or with --patience the best. Ctrl-C and SIGTERM end the process after
  /// the update under way, and behind the score of the epoch that it ends, and a checkpoint where one is asked for.
  /// `best`: so far, where it goes on.
  std::vector<Epoch> run(int64_t steps, train::Best best);
  /// Those that it made.
  int64_t updates() const { return made_; }

 private:
  std::vector<Epoch> run_epochs(mlopt::Progress& progress);
  bool goes_back();
  Epoch run_epoch(int64_t end, mlopt::Progress& progress);
  std::string pace(const Epoch& epoch, int64_t steps, const train::StepReport& done) const;
  bool ends_epoch(int64_t step) const;
  void after_step(const train::StepReport& done);
  [[noreturn]] void end(const std::string& why);
  bool goes_on(const Epoch& epoch);
  void record(const train::StepReport& done);
  void log_line(const train::StepReport& done);
  void report_curves(const std::vector<Epoch>& epochs) const;
  void save();

  const TrainOptions& o_;
  const train::TrainingGraphs& graphs_;
  train::Trainer& trainer_;
  const Validation& validation_;
  const std::string& spec_;
  Session& session_;
  train::TrainingHooks hooks_;
  train::Interrupt interrupt_;
  int64_t steps_ = 0;  ///< of the whole training
  int64_t made_ = 0;
  std::ofstream log_;
  std::optional<EventFile> events_;
  std::vector<Chart::Point> losses_;  ///< by update, for --html
  train::Best best_;                  ///< its weights with --patience
};

/// The table of epochs; gives them for the JSON report.
Json report_epochs(const std::vector<Epoch>& epochs, const std::string& metric, Report& report);

}  // namespace mlopt::cli
