#pragma once
#include <map>
#include <set>
#include <string>

#include "core/ir/infer.h"
#include "core/ir/model.h"

namespace mlopt::graphopt {

/// Free dimensions of inputs that can have one size only, by name, because a Reshape that every run meets has a shape
/// for so many elements: exporters that were shown one sample leave such models. Reads types as they are inferred.
std::map<std::string, int64_t> implied_sizes(const Model& model);
/// The same of a model as it was read, which stays as it is.
std::map<std::string, int64_t> implied_sizes(const Model& read, TypeRule standard);

/// The names of free dimensions of inputs.
std::set<std::string> symbols_of(const Graph& graph);

/// Nodes of a graph that a run meets: outputs are made from them.
std::set<const Node*> met_nodes(const Graph& graph);

/// While passes run the inputs have these sizes, and one name for those that are equal.
class ImpliedSizes {
 public:
  /// Notes the types of the inputs and gives them their sizes; computed types are as they were.
  explicit ImpliedSizes(Model& model);
  bool any() const { return !types_.empty(); }
  /// The inputs' own types.
  void restore(Model& model) const;

 private:
  std::map<std::string, Type> types_;
};

}  // namespace mlopt::graphopt
