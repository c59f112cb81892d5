#include "prune/dropouts.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt::prune {
namespace {

constexpr Dropout kDropouts[] = {
    {"targeted", "the least are left out of updates by chance, more and more", true, targeted_dropout},
    {"variational", "noise of a variance learned for each weight, which goes where it stands the most", false,
     variational_dropout},
};

/// Names of what gradients change: running statistics follow the batches.
std::set<std::string> learned_of(const Model& model, const train::TrainableChoice& choice) {
  std::set<std::string> names;
  for (const Value* v : train::trainable(model, choice)) {
    const auto is_statistic = [](const Use& use) { return use.node->is("BatchNormalization") && use.index >= 3; };
    if (std::none_of(v->uses.begin(), v->uses.end(), is_statistic)) names.insert(v->name);
  }
  return names;
}

}  // namespace

std::span<const Dropout> dropouts() { return kDropouts; }

const Dropout& find_dropout(std::string_view name, const Granularity& granularity) {
  const bool channels = granularity.kind() == Kind::kStructure;
  std::vector<std::string> names;
  for (const Dropout& dropout : kDropouts) {
    if (channels && !dropout.channels) continue;
    if (name.empty() || dropout.name == name) return dropout;
    names.emplace_back(dropout.name);
  }
  usage_error(fmt::format("no dropout '{}' of {}", name, to_string(granularity)), "--drop",
              suggestion(std::string(name), names));
}

void add_dropout(train::Recipe& recipe, const Model& model, const Spec& spec, const train::Schedule& schedule) {
  add_dropout(recipe, model, spec, schedule, find_dropout(spec.dropout, spec.granularity).make);
}

void add_dropout(train::Recipe& recipe, const Model& model, const Spec& spec, const train::Schedule& schedule,
                 DropoutParts (*make)(const DropoutSetting& setting)) {
  const std::set<std::string> trained = learned_of(model, recipe.choice);
  const DropoutParts parts =
      make({model, spec, {*spec.sparsity, schedule.steps}, schedule.rate, [&](const std::string& name) {
              return trained.contains(name);
            }});
  recipe.objective = [usual = recipe.loss, objective = recipe.objective, noise = parts.noise](train::LossArgs& args) {
    train::LossGraph loss = objective ? objective(args) : usual->build(args);
    noise(args, loss);
    args.build.graph().sort();
    return loss;
  };
  recipe.constrain = parts.draw;
}

}  // namespace mlopt::prune
