#pragma once
#include <functional>
#include <unordered_set>

#include "core/exec/kernel.h"

namespace mlopt {

/// Can input i of a node be given in bfloat16, whatever its output is?
bool multiplies(const Bf16Rule& rule, size_t i);
/// Or where its output is?
bool passes(const Bf16Rule& rule, size_t i);

/// The float32 values of a graph that readers are given in bfloat16.
struct Bf16Values {
  /// Best made in it: what is multiplied in it, and what leads there by operators that pass it on, where no reader
  /// needs float32.
  std::unordered_set<const Value*> kept;
  /// Others that are multiplied in several places, for which they are converted once.
  std::unordered_set<const Value*> copied;
};

/// For kernels with these rules.
Bf16Values bf16_values(const Graph& graph, const std::function<Bf16Rule(const Node&)>& rule_of);

}  // namespace mlopt
