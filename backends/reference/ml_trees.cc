#include "backends/reference/ml_trees.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace mlopt::reference {
namespace {

bool says_yes(const TreeNode& node, double x) {
  if (node.missing_is_true && std::isnan(x)) return true;
  switch (node.mode) {
    case TreeNode::Mode::kLessEqual:
      return x <= node.value;
    case TreeNode::Mode::kLess:
      return x < node.value;
    case TreeNode::Mode::kGreaterEqual:
      return x >= node.value;
    case TreeNode::Mode::kGreater:
      return x > node.value;
    case TreeNode::Mode::kEqual:
      return x == node.value;
    case TreeNode::Mode::kNotEqual:
      return x != node.value;
    case TreeNode::Mode::kMember:
      return std::find(node.members.begin(), node.members.end(), x) != node.members.end();
    case TreeNode::Mode::kLeaf:
      break;
  }
  return false;
}

TreeNode::Mode mode_of(const Call& call, const std::string& name) {
  static constexpr std::pair<std::string_view, TreeNode::Mode> kModes[] = {
      {"LEAF", TreeNode::Mode::kLeaf},           {"BRANCH_LEQ", TreeNode::Mode::kLessEqual},
      {"BRANCH_LT", TreeNode::Mode::kLess},      {"BRANCH_GTE", TreeNode::Mode::kGreaterEqual},
      {"BRANCH_GT", TreeNode::Mode::kGreater},   {"BRANCH_EQ", TreeNode::Mode::kEqual},
      {"BRANCH_NEQ", TreeNode::Mode::kNotEqual},
  };
  for (const auto& [known, mode] : kModes)
    if (name == known) return mode;
  fail(call, fmt::format("the node mode '{}' is unknown", name));
}

using NodeId = std::pair<int64_t, int64_t>;  // tree, node

std::map<NodeId, int64_t> places_of(const Call& call, std::span<const int64_t> trees, std::span<const int64_t> ids) {
  std::map<NodeId, int64_t> places;
  for (size_t i = 0; i < ids.size(); ++i)
    if (!places.emplace(NodeId{trees[i], ids[i]}, static_cast<int64_t>(i)).second)
      fail(call, fmt::format("node {} of tree {} is given twice", ids[i], trees[i]));
  return places;
}

int64_t place_of(const Call& call, const std::map<NodeId, int64_t>& places, NodeId id) {
  const auto found = places.find(id);
  if (found == places.end()) fail(call, fmt::format("node {} of tree {} is missing", id.second, id.first));
  return found->second;
}

void read_votes(const Call& call, const std::string& kind, const std::map<NodeId, int64_t>& places, Forest& forest) {
  const std::vector<int64_t> trees = call.view.get_ints(kind + "_treeids"),
                             nodes = call.view.get_ints(kind + "_nodeids");
  const std::vector<int64_t> targets = call.view.get_ints(kind + "_ids");
  const std::vector<double> weights = numbers_or_tensor(call, kind + "_weights");
  require(call, trees.size() == nodes.size() && trees.size() == targets.size() && trees.size() == weights.size(),
          "the lists that describe the leaves have different lengths");
  for (size_t i = 0; i < trees.size(); ++i)
    forest.nodes[static_cast<size_t>(place_of(call, places, {trees[i], nodes[i]}))].votes.push_back(
        {targets[i], weights[i]});
}

/// The member lists of kMember nodes, in the order of the nodes, each ended by NaN.
void read_members(const Call& call, Forest& forest) {
  const Tensor* held = call.view.get_tensor("membership_values");
  const std::vector<double> values = held ? to_doubles(*held) : std::vector<double>{};
  size_t at = 0;
  for (TreeNode& node : forest.nodes) {
    if (node.mode != TreeNode::Mode::kMember) continue;
    for (; at < values.size() && !std::isnan(values[at]); ++at) node.members.push_back(values[at]);
    require(call, at < values.size() || !node.members.empty(), "membership_values is too short");
    ++at;
  }
}

/// A tensor attribute that must be there.
std::vector<double> numbers_of(const Call& call, std::string_view attr) {
  const Tensor* held = call.view.get_tensor(attr);
  if (!held) fail(call, fmt::format("attribute '{}' is missing", attr));
  return to_doubles(*held);
}

/// TreeEnsemble's lists, one entry for each inner node; `missing` may be empty.
struct IndexedNodes {
  std::vector<double> modes, splits;
  std::vector<int64_t> features, yes, no, yes_leaf, no_leaf, missing;
};

IndexedNodes indexed_nodes(const Call& call) {
  const NodeView& view = call.view;
  IndexedNodes n{.modes = numbers_of(call, "nodes_modes"),
                 .splits = numbers_of(call, "nodes_splits"),
                 .features = view.get_ints("nodes_featureids"),
                 .yes = view.get_ints("nodes_truenodeids"),
                 .no = view.get_ints("nodes_falsenodeids"),
                 .yes_leaf = view.get_ints("nodes_trueleafs"),
                 .no_leaf = view.get_ints("nodes_falseleafs"),
                 .missing = view.get_ints("nodes_missing_value_tracks_true")};
  const size_t count = n.features.size();
  for (const size_t length :
       {n.modes.size(), n.splits.size(), n.yes.size(), n.no.size(), n.yes_leaf.size(), n.no_leaf.size()})
    require(call, length == count, "the lists that describe the nodes have different lengths");
  require(call, n.missing.empty() || n.missing.size() == count, "nodes_missing_value_tracks_true has the wrong length");
  return n;
}

}  // namespace

const TreeNode& Forest::leaf(const Call& call, int64_t root, std::span<const double> row) const {
  int64_t at = root;
  for (size_t steps = 0; steps <= nodes.size(); ++steps) {
    const TreeNode& node = nodes[static_cast<size_t>(at)];
    if (node.mode == TreeNode::Mode::kLeaf) return node;
    if (node.feature < 0 || node.feature >= static_cast<int64_t>(row.size()))
      fail(call, fmt::format("a tree looks at feature {} of {}", node.feature, row.size()));
    at = says_yes(node, row[static_cast<size_t>(node.feature)]) ? node.yes : node.no;
  }
  fail(call, "a tree runs in a circle");
}

std::vector<double> numbers_or_tensor(const Call& call, const std::string& name) {
  if (const Tensor* tensor = call.view.get_tensor(name + "_as_tensor")) return to_doubles(*tensor);
  const std::vector<float> values = call.view.get_floats(name);
  return {values.begin(), values.end()};
}

Forest read_numbered_forest(const Call& call, std::string_view votes) {
  const NodeView& view = call.view;
  const std::vector<int64_t> trees = view.get_ints("nodes_treeids"), ids = view.get_ints("nodes_nodeids");
  const std::vector<int64_t> yes = view.get_ints("nodes_truenodeids"), no = view.get_ints("nodes_falsenodeids");
  const std::vector<int64_t> features = view.get_ints("nodes_featureids"),
                             missing = view.get_ints("nodes_missing_value_tracks_true");
  const std::vector<std::string> modes = view.get_strings("nodes_modes");
  const std::vector<double> values = numbers_or_tensor(call, "nodes_values");
  const size_t count = ids.size();
  for (const size_t length : {trees.size(), yes.size(), no.size(), features.size(), modes.size(), values.size()})
    require(call, length == count, "the lists that describe the nodes have different lengths");
  require(call, missing.empty() || missing.size() == count, "nodes_missing_value_tracks_true has the wrong length");
  const std::map<NodeId, int64_t> places = places_of(call, trees, ids);

  Forest forest;
  std::map<int64_t, int64_t> root_of;
  for (size_t i = 0; i < count; ++i) {
    TreeNode node{mode_of(call, modes[i]), features[i], values[i], !missing.empty() && missing[i] != 0};
    if (node.mode != TreeNode::Mode::kLeaf) {
      node.yes = place_of(call, places, {trees[i], yes[i]});
      node.no = place_of(call, places, {trees[i], no[i]});
    }
    if (root_of.emplace(trees[i], static_cast<int64_t>(i)).second) forest.roots.push_back(static_cast<int64_t>(i));
    forest.nodes.push_back(std::move(node));
  }
  read_votes(call, std::string(votes), places, forest);
  return forest;
}

Forest read_indexed_forest(const Call& call) {
  const IndexedNodes lists = indexed_nodes(call);
  const std::vector<double> weights = numbers_of(call, "leaf_weights");
  const std::vector<int64_t> targets = call.view.get_ints("leaf_targetids");
  require(call, targets.size() == weights.size(), "the lists that describe the leaves have different lengths");
  const size_t count = lists.features.size();

  Forest forest;
  const auto child = [&](int64_t id, bool is_leaf) {
    require(call, id >= 0 && id < static_cast<int64_t>(is_leaf ? targets.size() : count),
            "a node has a child that does not exist");
    return is_leaf ? id + static_cast<int64_t>(count) : id;
  };
  for (size_t i = 0; i < count; ++i) {
    require(call, lists.modes[i] >= 0 && lists.modes[i] <= 6, "a node mode is unknown");
    forest.nodes.push_back({.mode = static_cast<TreeNode::Mode>(1 + static_cast<int>(lists.modes[i])),
                            .feature = lists.features[i],
                            .value = lists.splits[i],
                            .missing_is_true = !lists.missing.empty() && lists.missing[i] != 0,
                            .yes = child(lists.yes[i], lists.yes_leaf[i] != 0),
                            .no = child(lists.no[i], lists.no_leaf[i] != 0)});
  }
  read_members(call, forest);
  for (size_t i = 0; i < targets.size(); ++i) forest.nodes.push_back({.votes = {{targets[i], weights[i]}}});
  for (const int64_t root : call.view.get_ints("tree_roots")) forest.roots.push_back(child(root, false));
  return forest;
}

}  // namespace mlopt::reference
