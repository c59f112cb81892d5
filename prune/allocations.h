#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "prune/criteria.h"
#include "prune/units.h"

namespace mlopt::prune {

/// How much of each layer goes. One file an allocation.
struct Allocation {
  std::string_view name, doc;
  /// The scale of scores that it is meant for.
  std::string_view scale;
  /// Marks what goes so that about `sparsity` of all weights do. `rivals` tells which units compete where each layer
  /// has its own share. Null: shares come from curves (curves.h)
  /// or from an agent (amc/search.h).
  void (*allocate)(std::span<Candidate> candidates, double sparsity, Rivals rivals);
  bool own_share = false;  ///< of each layer as much as of all: layers need not be seen together
};

std::span<const Allocation> allocations();
// What the allocations are made of.

/// Marks the units of least score until `share` of the candidate's weights are gone, those nearest; the first of equal
/// ones go first. Per row where rows are rivals.
void remove_share(Candidate& candidate, double share, Rivals rivals);
/// The same over all candidates by these scores, one for each of their units.
void remove_least(std::span<Candidate> candidates, const std::vector<std::vector<float>>& scores, double share);

// The allocations, one a file.

/// The same share of each layer.
void allocate_uniform(std::span<Candidate> candidates, double sparsity, Rivals rivals);
/// The least of all layers.
void allocate_global(std::span<Candidate> candidates, double sparsity, Rivals rivals);
/// The least of all layers as shares of what their layer keeps (Lee et al. 2021, "Layer-adaptive Sparsity for the
/// Magnitude-based Pruning").
void allocate_lamp(std::span<Candidate> candidates, double sparsity, Rivals rivals);
/// Less of layers with few weights for their inputs and outputs (Evci et al. 2020, "Rigging the Lottery").
void allocate_erk(std::span<Candidate> candidates, double sparsity, Rivals rivals);

}  // namespace mlopt::prune
