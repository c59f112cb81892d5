#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graphopt/passes/axis_order.h"

namespace mlopt::graphopt {

/// An operator that gives values as its input has them, written for the source of that input: op(order(x)) is
/// order(moved op(x)).
struct Moved {
  std::vector<Value*> inputs;
  std::vector<std::pair<size_t, Tensor>> constants;  ///< to stand in the place of these inputs
  std::vector<Attr> attrs;
  int served = 0;  ///< values of that order that it reads

  Value* make(Builder& builder, const Node& node) const;
};

/// Nothing where the operator cannot be moved, or an input is neither of the same order nor a constant that can be read
/// before it as well. Values that `assumed` holds for count as of that order.
std::optional<Moved> moved(const Node& node, const AxisOrder& order, const Builder& builder,
                           const std::function<bool(const Value&)>& assumed = {});

/// The names of those that can be moved, as a pattern has them.
std::string movable_operators();

}  // namespace mlopt::graphopt
