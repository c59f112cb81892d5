#pragma once
#include <optional>
#include <span>
#include <vector>

#include "core/ir/model.h"
#include "core/tensor/datum.h"

namespace mlopt {

/// For each of the graph's inputs without data, in order: whether what others of its values follow from it in shape (a
/// new shape, a length, a condition, places to cut at), be it directly or through other nodes, so that nothing can be
/// planned before it is known.
std::vector<bool> deciding_inputs(const Graph& graph);

/// The values that the plan for these inputs has to know, one for each input; none where it does not decide or is no
/// small tensor. One without elements is known in any case.
std::vector<std::optional<Tensor>> decisions(std::span<const Datum> inputs, const std::vector<bool>& deciding);

/// Whether these inputs, of the shapes that `values` are for, have those values; true where there are none.
bool same_decisions(std::span<const Datum> inputs, std::span<const std::optional<Tensor>> values);

/// Makes initializers of the inputs that have a value.
void fix_inputs(Model& model, std::span<const std::optional<Tensor>> values);

/// What goes with the other inputs, in order; all where there are no values.
template <class T>
std::vector<T> undecided(std::span<const T> of_inputs, std::span<const std::optional<Tensor>> values) {
  std::vector<T> rest;
  for (size_t i = 0; i < of_inputs.size(); ++i)
    if (values.empty() || !values[i]) rest.push_back(of_inputs[i]);
  return rest;
}

}  // namespace mlopt
