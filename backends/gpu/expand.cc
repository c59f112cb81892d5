#include "backends/gpu/expand.h"

#include <algorithm>
#include <array>
#include <set>

#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"
#include "core/base/error.h"
#include "core/onnx/tools.h"

namespace mlopt::gpu {
namespace {

constexpr const char* kDomain = "mlopt.function";  // of the call that stands for a node meanwhile
constexpr int kMostRounds = 3;                     // operators in bodies of operators

/// Are all of these operators of kinds that kernels run, that plans know the values of, or that are replaced in turn?
bool can_run(const Function& function) {
  static constexpr std::array<std::string_view, 6> kKnown{"Constant", "ConstantOfShape", "NegativeLogLikelihoodLoss",
                                                          "Range",    "Shape",           "Size"};
  const std::vector<Node*> nodes = function.body->nodes();
  return std::all_of(nodes.begin(), nodes.end(), [](const Node* node) {
    return node->bodies().empty() &&
           (is_runnable(*node) || std::find(kKnown.begin(), kKnown.end(), node->op) != kKnown.end());
  });
}

/// Nodes whose outputs all are known run nowhere; those of other types than the device's run nowhere else.
bool is_wanted(const Node& node) {
  if (!node.domain.empty() || is_runnable(node)) return false;
  const auto on_device = [](const Value* v) { return !v || (v->type.is_tensor() && elem_of(v->type.dtype)); };
  const auto is_known = [](const Value* v) { return !v || v->known_constant(); };
  return std::all_of(node.inputs().begin(), node.inputs().end(), on_device) &&
         !std::all_of(node.outputs().begin(), node.outputs().end(), is_known);
}

/// Puts the body in the place of the node, by whose label what cannot be planned of it will go.
void put_in_place(Model& model, Node* node, Function function) {
  const std::vector<std::string> origins = node->origins.empty() ? std::vector{node->label()} : node->origins;
  std::vector<Node*> nodes = model.graph->nodes();
  const std::set<const Node*> before(nodes.begin(), nodes.end());
  function.domain = node->domain = kDomain;
  function.name = node->op;
  function.overload = node->overload;
  model.functions.push_back(std::move(function));
  inline_functions(model);
  for (Node* made : model.graph->nodes())
    if (!before.contains(made)) made->origins = origins;
}

/// Whether anything was replaced and all of it could be.
bool expand_once(Model& model) {
  bool any = false;
  for (Node* node : model.graph->nodes()) {
    if (!is_wanted(*node)) continue;
    std::optional<Function> function = standard_function(NodeView(*node, model.opset(node->domain)));
    if (!function || !can_run(*function)) continue;
    model.set_opset(kDomain, 1);
    try {
      put_in_place(model, node, *std::move(function));
    } catch (const Error&) {  // a body of another opset: the nodes are refused as they are
      return false;
    }
    any = true;
  }
  return any;
}

}  // namespace

void expand_functions(Model& model, TypeRule types) {
  if (!model.functions.empty()) return;
  for (int round = 0; round < kMostRounds; ++round) {
    Model expanded = clone(model);
    if (!expand_once(expanded)) return;
    infer(expanded, types);
    model = std::move(expanded);
  }
}

}  // namespace mlopt::gpu
