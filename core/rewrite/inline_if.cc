// If of a condition that is known -> the nodes of its branch, which then are rewritten and planned with those around.
#include "core/rewrite/inline_if.h"

#include "core/ir/constant.h"
#include "core/ir/instantiate.h"
#include "core/tensor/cast.h"

namespace mlopt {
namespace {

std::optional<bool> known_condition(const Node& node) {
  const Value* condition = node.input(0);
  if (!condition) return std::nullopt;
  const std::optional<Tensor> known = constant_or_known(*condition);
  if (!known || known->size() != 1 || known->dtype() != DType::kBool) return std::nullopt;
  return number_at(*known, 0) != 0;
}

/// `names`: of the whole model, counted at the first If that is inlined.
int64_t inline_branches(Graph& graph, const PassContext& context, std::optional<FreshNames>& names) {
  int64_t inlined = 0;
  for (Node* node : graph.nodes()) {
    const auto condition = node->is("If") && context.allows(*node) ? known_condition(*node) : std::nullopt;
    const Attr* attr = condition ? node->attr(*condition ? "then_branch" : "else_branch") : nullptr;
    const auto* branch = attr ? std::get_if<GraphPtr>(&attr->value) : nullptr;
    if (!branch) {
      for (Graph* body : node->bodies()) inlined += inline_branches(*body, context, names);
      continue;
    }
    const GraphPtr kept = *branch;  // outlives the node
    if (!names) names.emplace(graph);
    instantiate_branch(node, *kept, *names);
    ++inlined;
  }
  return inlined;
}

/// What is known of a branch's own conditions is known once it is in its place.
void run(Model& model, const PassContext& context, PassTally& tally) {
  std::optional<FreshNames> names;
  while (const int64_t inlined = inline_branches(*model.graph, context, names)) {
    tally.applied += inlined;
    infer(model, context.standard_types, context.keep_outputs);
  }
}

}  // namespace

const Pass inline_if = {"inline_if", "the branch of an If whose condition is known, in its place", nullptr, run};

}  // namespace mlopt
