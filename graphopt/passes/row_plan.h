#pragma once
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "graphopt/passes/rows_needed.h"

namespace mlopt::graphopt {

/// One row of a value along one axis, which `root` takes; the axis stays, as one of length 1, or goes.
struct Row {
  Node* root = nullptr;
  Value* of = nullptr;
  size_t axis = 0;
  bool stays = false;
};

/// What is computed of one row alone, and of which values the row is taken for that.
struct RowPlan {
  struct Step {
    size_t axis = 0;  ///< of the row in what the node gives
    RowOfInput rows;
  };
  std::unordered_map<const Node*, Step> steps;
  std::unordered_map<Value*, size_t> sources;  ///< and along which axis
  std::unordered_set<const Value*> whole;      ///< read whole by these nodes
  std::vector<const Value*> parts;             ///< whose producers have to be taken apart first
  int products = 0, norms = 0;                 ///< of all rows, that are saved
  int softmaxes = 0;                           ///< whose scores are yet to come

  /// One row more is worth it where that saves two products; normalizations alone are worth no second.
  bool pays() const { return rows() <= 1 + products / 2 && products + norms > 0; }
  bool better_than(const RowPlan& other) const {
    return products >= other.products + 2 * std::max<int64_t>(0, rows() - other.rows());
  }
  /// Rows that are taken when the graph runs.
  int64_t rows() const;
};

/// The best plan; one without steps where none pays. `place`: of each node in the order of the graph.
RowPlan plan_of(const Row& row, const std::unordered_map<const Node*, size_t>& place, const PassContext& context,
                const Builder& builder);

}  // namespace mlopt::graphopt
