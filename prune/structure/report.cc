#include "prune/structure/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace mlopt::prune {
namespace {

/// Nodes that read or made two or more axes of the group, but for those whose weights it has: what couples them.
std::vector<std::string> coupled_by(const Relations& all, const Group& group) {
  std::vector<const Node*> order;
  std::map<const Node*, int> times;
  for (const size_t a : group.axes)
    for (const Node* node : all.atoms.axes()[a].nodes)
      if (++times[node] == 2 && std::find(group.nodes.begin(), group.nodes.end(), node) == group.nodes.end())
        order.push_back(node);
  std::vector<std::string> labels;
  for (const Node* node : order) labels.push_back(node->label());
  return labels;
}

PrunedGroup describe(const Relations& all, const Group& group, size_t removed) {
  PrunedGroup made;
  made.channels = static_cast<int64_t>(group.channels.size());
  made.kept = made.channels - static_cast<int64_t>(removed);
  if (group.heads) made.unit = "heads";
  if (group.normalized) made.unit = "dimensions";
  for (const Node* node : group.nodes) made.layers.push_back(node->called());
  for (const size_t a : group.axes) {
    const Axis& axis = all.atoms.axes()[a];
    if (axis.value->known_constant())
      made.members.push_back(fmt::format("{} axis {} of {}", axis.value->name, axis.axis, axis.size));
  }
  made.coupled_by = coupled_by(all, group);
  return made;
}

}  // namespace

std::vector<std::string> group_names(const std::vector<Group>& groups) {
  std::vector<std::string> names;
  for (const Group& group : groups) names.push_back(group.nodes.front()->called());
  return told_apart(std::move(names));
}

std::vector<PrunedGroup> report_groups(const Relations& all, const std::vector<Group>& groups, const Removed& removed) {
  const std::vector<std::string> names = group_names(groups);
  std::vector<PrunedGroup> made;
  for (size_t g = 0; g < groups.size(); ++g) {
    made.push_back(describe(all, groups[g], removed[g].size()));
    made.back().name = names[g];
  }
  return made;
}

std::map<std::string, std::string> report_pinned(const std::vector<PinnedGroup>& pinned) {
  std::map<std::string, std::string> left;
  for (const PinnedGroup& p : pinned)
    left.try_emplace(p.node->called(), fmt::format("{} channels stay: {}", p.channels, p.reason));
  return left;
}

}  // namespace mlopt::prune
