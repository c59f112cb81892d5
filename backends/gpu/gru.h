#pragma once
#include "backends/gpu/recurrent.h"

namespace mlopt::gpu {

/// The gates are those of update, reset and new state.
struct Gru : Recurrent {
  bool linear;  ///< linear_before_reset

  /// Where a step works: what the state gives the gates, [batch, gates], and the state behind the reset gate.
  struct Room {
    std::byte *partial, *reset;
  };
  /// What the new state's gate gets by a product of its own, behind the reset gate.
  std::byte* fresh(const Room& room) const { return room.partial + bytes(2 * state()); }
  void step(const Buffers& b, int64_t direction, const Room& room, const std::byte* gates_now, const std::byte* before,
            std::byte* now) const;
};

Expected<Gru> gru_of(const Site& site);
/// Of an RNN, whose activation goes into `fn`.
Expected<Recurrent> rnn_of(const Site& site, Fn& fn);

}  // namespace mlopt::gpu
