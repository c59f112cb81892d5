#include "core/exec/known_plans.h"

#include <algorithm>

#include "core/exec/deciding_inputs.h"

namespace mlopt {

KnownPlans::Known KnownPlans::get(std::span<const Datum> inputs, const std::function<Known()>& make) {
  constexpr size_t kRemembered = 16;
  const auto has_shape = [](const Datum& input, const Dims& dims) { return input.tensor().dims() == dims; };
  const std::lock_guard lock(mutex_);
  const auto known = std::find_if(all_.begin(), all_.end(), [&](const Known& k) {
    return std::equal(inputs.begin(), inputs.end(), k->shapes.begin(), k->shapes.end(), has_shape) &&
           same_decisions(inputs, k->values);
  });
  if (known != all_.end()) {
    std::rotate(known, known + 1, all_.end());
    return all_.back();
  }
  if (all_.size() == kRemembered) all_.erase(all_.begin());
  return all_.emplace_back(make());
}

void KnownPlans::forget(const Known& known) {
  const std::lock_guard lock(mutex_);
  auto none = std::make_shared<KnownPlan>();
  none->shapes = known->shapes;
  none->values = known->values;
  std::replace(all_.begin(), all_.end(), known, Known(std::move(none)));
}

bool KnownPlans::drop_idle() {
  const std::lock_guard lock(mutex_);
  // Who runs one holds it, and gets it under the lock only.
  const auto idle =
      std::find_if(all_.begin(), all_.end(), [](const Known& k) { return k->plan && k.use_count() == 1; });
  if (idle == all_.end()) return false;
  all_.erase(idle);
  return true;
}

}  // namespace mlopt
