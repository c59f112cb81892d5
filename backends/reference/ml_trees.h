#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "backends/reference/compute.h"

namespace mlopt::reference {

/// What a leaf adds to a target.
struct Vote {
  int64_t target;
  double weight;
};

/// A node of a decision tree: a comparison of one feature, or a leaf with votes.
struct TreeNode {
  enum class Mode { kLeaf, kLessEqual, kLess, kGreaterEqual, kGreater, kEqual, kNotEqual, kMember };

  Mode mode = Mode::kLeaf;
  int64_t feature = 0;
  double value = 0;
  bool missing_is_true = false;
  int64_t yes = -1, no = -1;         ///< nodes of the forest
  std::vector<double> members = {};  ///< of kMember
  std::vector<Vote> votes = {};      ///< of kLeaf
};

/// Trees over one list of nodes.
struct Forest {
  std::vector<TreeNode> nodes;
  std::vector<int64_t> roots;

  /// The leaf that a row of features reaches; fails when a feature is missing or the tree runs in a circle.
  const TreeNode& leaf(const Call& call, int64_t root, std::span<const double> row) const;
};

/// From TreeEnsembleRegressor's and TreeEnsembleClassifier's attributes; `votes` is "target" or "class".
Forest read_numbered_forest(const Call& call, std::string_view votes);
/// From TreeEnsemble's attributes (version 5).
Forest read_indexed_forest(const Call& call);

/// The attribute `name` as numbers, also where it is a tensor under `name`_as_tensor.
std::vector<double> numbers_or_tensor(const Call& call, const std::string& name);

}  // namespace mlopt::reference
