#include <fmt/core.h>

#include <algorithm>

#include "cli/verb/verb.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt::cli {
namespace {

std::vector<std::string> node_names(const Model& model) {
  std::vector<std::string> names;
  for (const Node* node : all_nodes(*model.graph)) names.push_back(node->called());
  return names;
}

}  // namespace

std::vector<std::string> list_items(const std::vector<std::string>& lists) {
  std::vector<std::string> items;
  for (const std::string& list : lists)
    for (const std::string& item : split(list, ',')) items.emplace_back(trim(item));
  return items;
}

void check_node_names(const std::vector<std::string>& globs, const char* option, const Model& model,
                      const Session& session) {
  if (globs.empty() || !model.functions.empty()) return;  // functions bring nodes that have no names yet
  const std::vector<std::string> names = node_names(model);
  for (const std::string& glob : globs) {
    if (std::any_of(names.begin(), names.end(), [&](const std::string& name) { return glob_match(glob, name); }))
      continue;
    if (glob.find_first_of("*?[") == std::string::npos)
      usage_error(fmt::format("the model has no node '{}'", glob), option, suggestion(glob, names));
    session.console.warn(fmt::format("{} {}: no node of the model matches", option, glob));
  }
}

}  // namespace mlopt::cli
