#pragma once
#include <cstdint>
#include <string>

#include "core/ir/model.h"

namespace mlopt::train {

/// What a rewrite moves, and the most bytes of values at once by the order of the nodes, without parameters.
struct Offloaded {
  int64_t values = 0, bytes = 0;  ///< in memory of the host at once
  int64_t bytes_before = 0, bytes_after = 0;
};

/// Smaller values stay: a copy of 1 MB takes 40 microseconds over PCIe 4.0, of fewer bytes hardly less, and a network
/// has few activations that are small and many bytes together.
constexpr int64_t kLeastOffload = 1 << 20;

/// What the forward pass, which ends with the value `loss`, makes for the backward pass lies in memory of the host in
/// between, by four nodes of the domain mlopt for each value:
///
///   x -> ToHost -> token        behind its last reader in the forward pass; begins the copy
///   x, token -> ToHostEnd -> token    before the next ToHost; has waited for the copy: x ends here
///   token -> FromHost -> y      behind the FromHostEnd of the value that is read before; begins the copy
///   y -> FromHostEnd -> z       before the first reader in the backward pass; has waited for the copy
///
/// So one copy is on its way while nodes run, and a value's memory is free from the next copy on. Views (Reshape and
/// the like) are taken again of what they are views of. Values of fewer than `least` bytes stay, and those that the
/// backward pass reads at once. No number changes.
Offloaded offload_activations(Model& model, const std::string& loss, int64_t least = kLeastOffload);

}  // namespace mlopt::train
