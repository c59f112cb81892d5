#include <fmt/core.h>

#include <algorithm>

#include "backends/gpu/device_plan.h"
#include "backends/gpu/operand.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt::gpu {

void DevicePlan::refuse_host_steps() const {
  std::vector<std::string> names;
  for (const AnyStep& step : parts().steps) {
    const auto* general = std::get_if<General>(&step);
    if (!general) continue;
    const auto makes_nothing = [&](int k) { return k < 0 || (slot(k).desc && slot(k).desc->size() == 0); };
    if (std::all_of(general->out.begin(), general->out.end(), makes_nothing)) continue;
    const Node& node = general->step.view().node();
    std::string name = node.origins.empty() ? node.label() : node.origins.front();
    if (!general->why_unplanned.empty()) name += fmt::format(" ({})", general->why_unplanned);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  if (!names.empty())
    unsupported_error("the GPU backend cannot run " + mlopt::join(names, ", "), {},
                      "use --fallback cpu, which copies what they read and make, or --device cpu");
}

bool DevicePlan::is_state(int k) const {
  return options_.state && slot(k).home == Home::kInput && options_.state->has(slot(k).value->name);
}

bool DevicePlan::is_on_host(int k) const {
  const Home home = slot(k).home;
  return home == Home::kConstant || (home == Home::kInput && !is_state(k)) || home == Home::kDatum;
}

/// Inputs, outputs and what the host makes have places that stay, so that a graph finds them.
void DevicePlan::place() {
  places_.resize(parts().slots.size());
  bytes_ = device_aligned(parts().arena_bytes + parts().scratch_bytes);
  for (size_t k = 0; k < places_.size(); ++k) {
    const Slot& s = parts().slots[k];
    if (s.home == Home::kArena) places_[k] = s.offset;
    if ((s.home != Home::kInput && s.home != Home::kOutput && s.home != Home::kDatum) || !s.desc) continue;
    if (is_state(static_cast<int>(k))) continue;
    places_[k] = bytes_;
    bytes_ += device_aligned(s.desc->bytes());
  }
}

/// Of the inputs and outputs that are copied, 0 of the others.
std::vector<size_t> DevicePlan::edge_sizes() const {
  std::vector<size_t> sizes;
  for (const int k : parts().inputs) sizes.push_back(is_state(k) || !slot(k).desc ? 0 : slot(k).desc->bytes());
  for (const int k : parts().outputs) sizes.push_back(is_on_host(k) ? 0 : slot(k).desc->bytes());
  return sizes;
}

}  // namespace mlopt::gpu
