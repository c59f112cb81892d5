#include "prune/penalties.h"

#include <fmt/core.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt::prune {
namespace {

constexpr Penalty kPenalties[] = {
    {"l1", "each of the least weights pulled to zero alike", true, false, add_l1},
    {"group-lasso", "the least channels pulled to zero in all that belongs to them", false, true, add_group_lasso},
    {"slimming", "channels by the scales of their BatchNormalization, which are pulled to zero", false, true,
     add_slimming},
    {"greg", "weights or channels chosen at first, their squares penalized more and more", true, true, add_greg},
    {"l0", "gates of weights or channels, learned with a price for each that is open", true, true, nullptr, l0_gates},
};

}  // namespace

std::span<const Penalty> penalties() { return kPenalties; }

const Penalty& find_penalty(std::string_view name, const Granularity& granularity) {
  const bool channels = granularity.kind() == Kind::kStructure;
  std::vector<std::string> names;
  for (const Penalty& penalty : kPenalties) {
    if (!(channels ? penalty.channels : penalty.elements)) continue;
    if (name.empty() || penalty.name == name) return penalty;
    names.emplace_back(penalty.name);
  }
  usage_error(fmt::format("no penalty '{}' of {}", name, to_string(granularity)), "--penalty",
              suggestion(std::string(name), names));
}

void add_penalty(train::Recipe& recipe, const Model& model, const Spec& spec, const train::Schedule& schedule) {
  const Penalty& penalty = find_penalty(spec.penalty, spec.granularity);
  if (penalty.gates) return add_dropout(recipe, model, spec, schedule, penalty.gates);
  recipe.constrain = [&penalty, &model, &spec, plan = PenaltyPlan{*spec.sparsity, schedule.steps}](
                         train::Constraint& at) { penalty.add(at, model, spec, plan); };
}

}  // namespace mlopt::prune
