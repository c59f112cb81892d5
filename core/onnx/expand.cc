#include <fmt/core.h>

#include "core/ir/infer.h"
#include "core/onnx/infer.h"
#include "core/onnx/older/write.h"
#include "core/onnx/tools.h"

namespace mlopt {
namespace {

constexpr const char* kDomain = "mlopt.expanded";
constexpr int kMostRounds = 8;  // bodies of bodies: the standard nests them three deep

/// GroupNormalization had a scale for each group before 21, and has one for each channel since.
bool has(int64_t opset, const Node& node, int64_t own) {
  if (node.op == "GroupNormalization" && own >= 21 && opset < 21) return false;
  return known_operator("", node.op, opset) || proto::written_by_others(node.op, opset);
}

}  // namespace

void expand_newer_operators(Model& model, int64_t opset) {
  const int64_t own = model.opset();
  std::vector<Function> functions;
  std::swap(functions, model.functions);
  for (int round = 0; round < kMostRounds; ++round) {
    infer(model, standard_types);
    for (Node* node : all_nodes(*model.graph)) {
      if (!node->domain.empty() || has(opset, *node, own)) continue;
      std::optional<Function> body = standard_function(NodeView(*node, own));
      if (!body) continue;
      body->domain = node->domain = kDomain;
      body->name = node->op;
      body->overload = node->overload = fmt::format("{}", model.functions.size());
      model.functions.push_back(*std::move(body));
    }
    if (model.functions.empty()) break;
    inline_functions(model);
  }
  model.functions = std::move(functions);
}

}  // namespace mlopt
