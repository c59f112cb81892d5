#include "cli/targets.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/backends.h"
#include "core/base/error.h"
#include "core/onnx/tools.h"

namespace mlopt::cli {
namespace {

std::vector<Unsupported> by_operators(const Model& model, const std::vector<std::string>& more_domains) {
  std::vector<Unsupported> found;
  for (const Node* node : all_nodes(*model.graph)) {
    const int64_t opset = model.opset(node->domain);
    if (known_operator(node->domain, node->op, opset)) continue;
    if (std::find(more_domains.begin(), more_domains.end(), node->domain) != more_domains.end()) continue;
    const std::string domain = node->domain.empty() ? "ai.onnx" : node->domain;
    found.push_back({node->label(), fmt::format("{} is no operator of {} {}", node->op, domain, opset)});
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

std::vector<std::string> target_names() {
  std::vector<std::string> names = {"onnx", "ort"};
  for (std::string& name : device_names()) names.push_back(std::move(name));
  return names;
}

std::vector<Unsupported> unsupported_by(const Model& model, const std::string& target) {
  Model flat = clone(model);
  inline_functions(flat);
  if (target == "onnx") return by_operators(flat, {});
  if (target == "ort") return by_operators(flat, {"com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc"});
  return by_backend(flat, target);
}

}  // namespace mlopt::cli
