#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "prune/structure/rule.h"

namespace mlopt::prune {

/// What goes or stays as one: elements of axes, (number of the axis, position), sorted.
using Channel = std::vector<std::pair<size_t, int64_t>>;

/// Channels that lie on the same axes.
struct Group {
  std::vector<size_t> axes;  ///< sorted
  std::vector<Channel> channels;
  bool heads = false;              ///< whole attention heads
  bool normalized = false;         ///< statistics are taken over them
  std::vector<const Node*> nodes;  ///< whose weights make the channels, in schedule order
};

/// Channels of a weight that stay, and why.
struct PinnedGroup {
  const Node* node = nullptr;  ///< whose weight makes them
  int64_t channels = 0;
  std::string reason;
};

struct Groups {
  std::vector<Group> groups;        ///< in the order of their first axes
  std::vector<PinnedGroup> pinned;  ///< likewise
};

/// The channels that weights make. Single ones, which cannot go, are left out.
Groups find_groups(const Relations& all);

/// What globs know a group by: the nodes that make it, and the constants that have a part of it.
std::vector<std::string> names_of(const Relations& all, const Group& group);

}  // namespace mlopt::prune
