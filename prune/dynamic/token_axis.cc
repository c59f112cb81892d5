#include "prune/dynamic/token_axis.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/ir/reduced_axes.h"
#include "core/ir/slice_span.h"
#include "core/ir/view.h"
#include "core/tensor/cast.h"
#include "prune/dynamic/token_rules.h"

namespace mlopt::prune {

TokenStep::TokenStep(const NodeView& view, const TokenPaths& paths, int64_t tokens) : view(view), tokens(tokens) {
  for (const Value* v : view.node().inputs()) {
    std::vector<TokenAxis>& axes = inputs_.emplace_back();
    if (!v) continue;
    if (const auto found = paths.axes.find(v->name); found != paths.axes.end()) axes = found->second;
  }
}

const std::vector<TokenAxis>& TokenStep::at(int input) const {
  static const std::vector<TokenAxis> kNone;
  return input < static_cast<int>(inputs_.size()) ? inputs_[static_cast<size_t>(input)] : kNone;
}

bool TokenStep::any() const {
  return std::any_of(inputs_.begin(), inputs_.end(), [](const auto& axes) { return !axes.empty(); });
}

bool TokenStep::on(int input, size_t axis) const {
  return std::any_of(at(input).begin(), at(input).end(), [&](const TokenAxis& t) { return t.axis == axis; });
}

Dims TokenStep::dims(const Value* v) {
  const auto known = v->type.static_dims();
  return known ? *known : Dims{};
}

void TokenStep::give(TokenAxis to) {
  if (std::find(outputs.begin(), outputs.end(), to) == outputs.end()) outputs.push_back(to);
}

TokenPaths follow_tokens(const Model& model, const Value& from, size_t axis) {
  TokenPaths paths;
  paths.axes[from.name] = {{axis}};
  const int64_t tokens = TokenStep::dims(&from).at(axis);
  bool behind = false;
  for (const Node* node : model.graph->nodes()) {
    if (!behind) {
      behind = node == from.producer;
      continue;
    }
    for (const Graph* body : node->bodies())
      for (const Value* v : captures(*body))
        if (paths.axes.contains(v->name)) paths.problem = fmt::format("{} reads tokens in a body", node->label());
    const NodeView view(*node, model.opset(node->domain));
    TokenStep step(view, paths, tokens);
    if (paths.problem.empty() && step.any()) {
      step_tokens(step);
      if (!step.problem.empty()) paths.problem = fmt::format("{} {}", node->label(), step.problem);
      paths.reads_first = paths.reads_first || step.reads_first;
      for (const Value* y : node->outputs())
        if (y && !step.outputs.empty()) paths.axes[y->name] = step.outputs;
    }
    if (!paths.problem.empty()) return paths;
  }
  for (const Value* y : model.graph->outputs())
    if (paths.axes.contains(y->name)) paths.problem = fmt::format("the output '{}' has a part for each token", y->name);
  return paths;
}

}  // namespace mlopt::prune
