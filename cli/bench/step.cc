#include "cli/bench/step.h"

#include <fmt/core.h>

namespace mlopt::cli {

std::string operators_of(const StepInfo& step) {
  constexpr size_t kShown = 3;
  if (step.nodes.empty()) return step.op;
  std::string text;
  for (size_t i = 0; i < step.nodes.size() && i < kShown; ++i)
    text += (i > 0 ? " + " : "") + step.nodes[i].substr(0, step.nodes[i].find(' '));  // a label begins with it
  return step.nodes.size() > kShown ? fmt::format("{} + {} more", text, step.nodes.size() - kShown) : text;
}

std::string shortened(const std::string& name) {
  constexpr size_t kShown = 40;
  return name.size() <= kShown ? name : "..." + name.substr(name.size() - kShown);
}

void add_step(const StepInfo& step, Json& json) {
  json["kernel"] = step.kernel;
  json["nodes"] = step.nodes;
  json["layout"] = step.layout.empty() ? Json() : Json(step.layout);
  json["macs"] = or_null(step.macs);
  json["bytes"] = or_null(step.bytes);
}

}  // namespace mlopt::cli
