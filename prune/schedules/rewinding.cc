#include "prune/schedules/rewinding.h"

#include <fmt/core.h>

#include <cmath>
#include <memory>
#include <set>

#include "core/base/error.h"
#include "core/train/checkpoint.h"
#include "prune/schedules/trained_masks.h"

namespace mlopt::prune {
namespace {

class Rounds {
 public:
  Rounds(const ScheduleSetting& setting, bool weights)
      : masks_(setting),
        sparsity_(setting.spec.granularity.pattern() ? share_of_pattern(setting.spec.granularity)
                                                     : *setting.spec.sparsity),
        rounds_(setting.spec.iterations),
        back_(setting.spec.rewind),
        weights_(weights) {
    if (back_ >= setting.steps)
      usage_error(fmt::format("update {} is none of the {} to go back to", back_, setting.steps), "--rewind-to",
                  "give an early one");
  }

  void constrain(train::Constraint& at) const { masks_.constrain(at); }

  void before(int64_t done, const train::TrainingGraphs& graphs) {
    if (done != back_ || round_ > 0) return;
    std::set<std::string> names = train::kept_names(graphs);
    if (!weights_) {
      for (const std::string& name : train::results(graphs)) names.erase(name);
      for (const std::string& name : graphs.parameters) names.erase(name);
    }
    for (const std::string& name : names)
      if (!TrainedMasks::is_mask(name)) then_.emplace_back(name, graphs.state->at(name));
  }

  std::optional<int64_t> after(const train::TrainingGraphs& graphs) {
    if (round_ == rounds_) return std::nullopt;
    const double part = static_cast<double>(++round_) / static_cast<double>(rounds_);
    masks_.remove_of_all(1 - std::pow(1 - sparsity_, part), graphs);
    for (const auto& [name, value] : then_) graphs.state->set(name, value);
    masks_.apply(graphs);
    return back_;
  }

 private:
  TrainedMasks masks_;
  double sparsity_;
  int64_t rounds_, back_;
  bool weights_;
  int64_t round_ = 0;
  std::vector<std::pair<std::string, Tensor>> then_;  // the state behind the update to go back to
};

}  // namespace

ScheduleParts rewinding(const ScheduleSetting& setting, bool weights) {
  const auto rounds = std::make_shared<Rounds>(setting, weights);
  ScheduleParts parts;
  parts.constrain = [rounds](train::Constraint& at) { rounds->constrain(at); };
  parts.hooks.before = [rounds](int64_t done, const train::TrainingGraphs& graphs) { rounds->before(done, graphs); };
  parts.hooks.after = [rounds](const train::TrainingGraphs& graphs) { return rounds->after(graphs); };
  return parts;
}

}  // namespace mlopt::prune
