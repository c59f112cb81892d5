#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/exec/pieces.h"
#include "core/exec/plan.h"

namespace mlopt {

/// What runs for inputs of these shapes, and these values of those that decide shapes (where nothing can run node by
/// node); without a plan where inference was wrong.
struct KnownPlan {
  std::vector<Dims> shapes;
  std::vector<std::optional<Tensor>> values;
  std::unique_ptr<const Plan> plan;
  Pieces pieces;
};

/// The plans that were used last, for several threads at once.
class KnownPlans {
 public:
  using Known = std::shared_ptr<const KnownPlan>;

  void add(Known known) { all_.push_back(std::move(known)); }
  /// That for these inputs, all of them tensors; `make` gives one that is missing, for which the one that was used
  /// longest ago goes where there are many.
  Known get(std::span<const Datum> inputs, const std::function<Known()>& make);
  /// Keeps in mind that it has no plan.
  void forget(const Known& known);
  /// Lets go of the plan that was used longest ago and that nobody runs; false where there is none.
  bool drop_idle();

 private:
  std::mutex mutex_;
  std::vector<Known> all_;  ///< in the order of their last uses
};

}  // namespace mlopt
