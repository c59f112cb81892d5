#pragma once
#include <string>

#include "core/ir/type.h"
#include "core/tensor/datum.h"

namespace mlopt {

constexpr const char* kGiveWhatItTakes = "give each input the type and the sizes that the model declares";

/// An input of a graph that has no data of its own.
struct GraphInput {
  std::string name;
  Type type;
  bool is_state;  ///< comes from the store
};

/// Throws Error{kBadInput} where the value does not fit what is declared.
void check_input(const GraphInput& of, const Datum& input);

}  // namespace mlopt
