#include "prune/structure/groups.h"

#include <algorithm>
#include <map>
#include <set>

namespace mlopt::prune {
namespace {

/// Elements of the classes that hold an output channel of a weight and are not pinned, by class.
std::map<uint32_t, Channel> free_channels(const Atoms& atoms) {
  std::map<uint32_t, Channel> channels;
  const std::vector<Axis>& axes = atoms.axes();
  for (size_t a = 0; a < axes.size(); ++a)
    for (int64_t i = 0; axes[a].producer && i < axes[a].size; ++i)
      if (const uint32_t c = atoms.find(a, i); !atoms.pinned(c)) channels[c];
  for (size_t a = 0; a < axes.size(); ++a)
    for (int64_t i = 0; i < axes[a].size; ++i)
      if (const auto found = channels.find(atoms.find(a, i)); found != channels.end()) found->second.emplace_back(a, i);
  return channels;
}

std::vector<size_t> axes_of(const Channel& channel) {
  std::vector<size_t> axes;
  for (const auto& [axis, position] : channel)
    if (axes.empty() || axes.back() != axis) axes.push_back(axis);
  return axes;
}

Group make_group(const Atoms& atoms, const std::vector<size_t>& axes, std::vector<Channel> channels) {
  Group group{axes, std::move(channels), false, false, {}};
  for (const size_t a : axes) {
    const Axis& axis = atoms.axes()[a];
    group.heads = group.heads || axis.heads;
    group.normalized = group.normalized || axis.normalized;
    if (axis.producer && std::find(group.nodes.begin(), group.nodes.end(), axis.producer) == group.nodes.end())
      group.nodes.push_back(axis.producer);
  }
  return group;
}

std::vector<PinnedGroup> pinned_groups(const Atoms& atoms) {
  std::vector<PinnedGroup> all;
  for (size_t a = 0; a < atoms.axes().size(); ++a) {
    const Axis& axis = atoms.axes()[a];
    if (!axis.producer) continue;
    std::map<std::string, int64_t> reasons;
    for (int64_t i = 0; i < axis.size; ++i)
      if (const std::string* why = atoms.pinned(atoms.find(a, i))) ++reasons[*why];
    for (const auto& [reason, count] : reasons) all.push_back({axis.producer, count, reason});
  }
  return all;
}

}  // namespace

Groups find_groups(const Relations& all) {
  std::map<std::vector<size_t>, std::vector<Channel>> by_axes;
  for (auto& [number, channel] : free_channels(all.atoms)) by_axes[axes_of(channel)].push_back(std::move(channel));
  Groups found;
  for (auto& [axes, channels] : by_axes)
    if (channels.size() > 1) found.groups.push_back(make_group(all.atoms, axes, std::move(channels)));
  found.pinned = pinned_groups(all.atoms);
  return found;
}

std::vector<std::string> names_of(const Relations& all, const Group& group) {
  std::vector<std::string> names;
  for (const Node* node : group.nodes) names.push_back(node->called());
  for (const size_t a : group.axes)
    if (const Value* v = all.atoms.axes()[a].value; v->known_constant()) names.push_back(v->name);
  return names;
}

}  // namespace mlopt::prune
