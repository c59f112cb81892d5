#pragma once
#include <span>
#include <string>
#include <string_view>

#include "core/ir/graph.h"
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

/// Throws Error{kBadInput} where a free dimension has two sizes. The values fit their inputs.
void check_names(std::span<const GraphInput> inputs, std::span<const Datum> given);

/// What a backend says that plans only: throws Error{kUnsupported} with what reads the values that are no tensors.
[[noreturn]] void refuse_unplanned(const Graph& graph, std::span<const GraphInput> inputs, std::span<const Datum> given,
                                   std::string_view backend);

}  // namespace mlopt
