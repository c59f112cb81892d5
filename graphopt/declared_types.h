#pragma once
#include <map>
#include <string>

#include "core/ir/model.h"

namespace mlopt::graphopt {

/// The types that a file states. Those of computed values are a promise that nothing holds: while passes run, only
/// shapes that follow from the inputs count, so that a wrong one cannot make a rewrite wrong.
class DeclaredTypes {
 public:
  /// Notes all types, and forgets the shapes of what standard operators compute and of values that a Loop carries.
  explicit DeclaredTypes(Model& model);
  /// Graph outputs get their types back, and so do inner values that are still there, unless these were wrong.
  void restore(Model& model) const;

 private:
  void note(Graph& graph, const std::string& path, const Model& model);
  void restore(Graph& graph, const std::string& path) const;

  std::map<std::string, Type> types_;          // by the path of names from the main graph
  std::map<std::string, std::string> places_;  // of nodes with bodies, by the same of each output
};

}  // namespace mlopt::graphopt
