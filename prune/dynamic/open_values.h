#pragma once
#include <map>

#include "core/ir/graph.h"

namespace mlopt::prune {

/// Walks the schedule, and knows the values that are made and still to be read.
class OpenValues {
 public:
  explicit OpenValues(const Graph& graph);

  void pass(const Node& node);
  /// The one value that all later nodes read, if there is only one.
  const Value* only() const { return open_.size() == 1 ? open_.begin()->first : nullptr; }

 private:
  void wait_for(const Value& value);

  std::map<const Value*, size_t> open_;  // nodes that are to read it
};

}  // namespace mlopt::prune
