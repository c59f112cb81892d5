#pragma once
#include <memory>

#include "cli/train/options.h"
#include "cli/verb/stopwatch.h"
#include "core/exec/runner.h"
#include "prune/prune.h"

namespace mlopt::cli {

/// Prunes one source, by one spec after the other. What it runs on and the data are opened once.
class Pruner {
 public:
  Pruner(const TrainOptions& options, int64_t calibration_samples, const Model& source, const Session& session);
  Pruner(const Pruner&) = delete;  // what it hands on points into it
  Pruner& operator=(const Pruner&) = delete;

  prune::Pruned operator()(const prune::Spec& spec);
  /// For a result that is only tried: nothing is proven.
  prune::Pruned tried(const prune::Spec& spec);
  /// With zeros in place of what goes, channels too: shapes stay.
  Model zeroed(const prune::Spec& spec);
  /// For the method "movement"; null: nothing is known.
  void use(const std::map<std::string, Tensor>* movements) { means_.movements = movements; }
  /// Whose zeros were there before, where the source was made of it; null: the source's.
  void compare_with(const Model* before) { means_.before = before; }
  /// For the allocation "sensitivity".
  void use(std::vector<prune::Curve> curves) {
    curves_ = std::move(curves);
    means_.curves = &curves_;
  }
  /// For the allocation "amc".
  void use(const prune::AmcMeans* amc) { means_.amc = amc; }

 private:
  const DataFlags& flags_;
  const Model& source_;
  std::unique_ptr<Backend> backend_, judge_;
  Runner runner_;
  std::unique_ptr<Dataset> data_;
  Stopwatch watch_;
  std::vector<prune::Curve> curves_;
  prune::Means means_;
};

}  // namespace mlopt::cli
