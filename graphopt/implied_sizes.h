#pragma once
#include <map>
#include <string>

#include "core/ir/model.h"

namespace mlopt::graphopt {

/// Free dimensions of inputs that can have one size only, because a Reshape that every run meets has a constant shape
/// for so many elements: exporters that were shown one sample leave such models. While passes run the inputs have that
/// size.
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
