#include "prune/penalties.h"

#include <fmt/core.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt::prune {
namespace {

constexpr Penalty kPenalties[] = {
    {"l1", "each weight pulled to zero alike", false, add_l1},
    {"group-lasso", "whole channels pulled to zero", true, add_group_lasso},
};

}  // namespace

std::span<const Penalty> penalties() { return kPenalties; }

const Penalty& find_penalty(std::string_view name, const Granularity& granularity) {
  const bool channels = granularity.kind() == Kind::kStructure;
  std::vector<std::string> names;
  for (const Penalty& penalty : kPenalties) {
    if (penalty.channels != channels) continue;
    if (name.empty() || penalty.name == name) return penalty;
    names.emplace_back(penalty.name);
  }
  usage_error(fmt::format("no penalty '{}' of {}", name, to_string(granularity)), "--penalty",
              suggestion(std::string(name), names));
}

}  // namespace mlopt::prune
