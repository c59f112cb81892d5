#include <fmt/core.h>

#include <algorithm>

#include "core/ir/infer.h"
#include "core/onnx/infer.h"
#include "core/onnx/older/write.h"
#include "core/onnx/tools.h"

namespace mlopt {
namespace {

constexpr const char* kDomain = "mlopt.expanded";
constexpr int kMostRounds = 8;  // bodies of bodies: the standard nests them three deep

/// Can the node stay for what comes after, write_in_older() or, below its reach, ONNX's converter?
bool stays(const Node& node, int64_t own, int64_t opset) {
  if (opset < proto::kOldestWritten && !known_operator("", node.op, opset)) return false;
  return proto::known_down_to(node, own, std::max(opset, proto::kOldestWritten));
}

}  // namespace

void expand_newer_operators(Model& model, int64_t opset) {
  const int64_t own = model.opset();
  std::vector<Function> functions;
  std::swap(functions, model.functions);
  for (int round = 0; round < kMostRounds; ++round) {
    infer(model, standard_types);
    for (Node* node : all_nodes(*model.graph)) {
      if (!node->domain.empty() || stays(*node, own, opset)) continue;
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
