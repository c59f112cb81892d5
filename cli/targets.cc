#include "cli/targets.h"

#include <fmt/core.h>

#include "cli/backends.h"
#include "cli/targets/runtimes.h"
#include "core/base/error.h"
#include "core/ir/infer.h"
#include "core/onnx/infer.h"
#include "core/onnx/tools.h"

namespace mlopt::cli {
namespace {

std::vector<Unsupported> by_standard(const Model& model) {
  std::vector<Unsupported> found;
  for (const Node* node : all_nodes(*model.graph)) {
    const int64_t opset = model.opset(node->domain);
    if (known_operator(node->domain, node->op, opset)) continue;
    found.push_back(
        {node->label(), node->domain.empty()
                            ? fmt::format("{} is no operator of ai.onnx {}", node->op, opset)
                            : fmt::format("{} of {} is no operator of the standard", node->op, node->domain)});
  }
  return found;
}

std::vector<Unsupported> by_documentation(Model& model, std::string (*objection)(const NodeView&)) {
  infer(model, standard_types);
  std::vector<Unsupported> found;
  for (const Node* node : all_nodes(*model.graph)) {
    std::string why = objection({*node, model.opset(node->domain)});
    if (!why.empty()) found.push_back({node->label(), std::move(why)});
  }
  return found;
}

/// The backend names every node that it has no kernel for in one message.
std::vector<Unsupported> by_backend(const Model& model, const std::string& device) {
  try {
    open_backend(device)->compile(model, {});
  } catch (const Error& e) {
    if (e.code != Code::kUnsupported) throw;
    return {{e.message, "no kernel"}};
  }
  return {};
}

}  // namespace

bool lists(std::string_view words, std::string_view word) {
  if (word.empty() || word.find(' ') != std::string_view::npos) return false;
  for (size_t at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) return true;
  }
  return false;
}

std::vector<std::string> target_names() {
  std::vector<std::string> names = {"onnx", "ort", "openvino", "tensorrt"};
  for (std::string& name : device_names()) names.push_back(std::move(name));
  return names;
}

std::vector<Unsupported> unsupported_by(const Model& model, const std::string& target) {
  Model flat = clone(model);
  inline_functions(flat);
  if (target == "onnx") return by_standard(flat);
  if (target == "ort") return by_documentation(flat, ort_objection);
  if (target == "openvino") return by_documentation(flat, openvino_objection);
  if (target == "tensorrt") return by_documentation(flat, tensorrt_objection);
  return by_backend(flat, target);
}

std::string doubts_of(const std::string& target, const Model& model) {
  const std::vector<Unsupported> nodes = unsupported_by(model, target);
  if (nodes.empty()) return "";
  const std::string more = nodes.size() == 1 ? ""
                                             : fmt::format("; and {} nodes more, which mlopt check --target {} names",
                                                           nodes.size() - 1, target);
  return fmt::format("{} cannot run {}: {}{}", target, nodes[0].node, nodes[0].reason, more);
}

}  // namespace mlopt::cli
