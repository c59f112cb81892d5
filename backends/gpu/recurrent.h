#pragma once
#include "backends/gpu/operand.h"

namespace mlopt::gpu {

/// What LSTM, GRU and RNN have in common: x [steps, batch, size], weights [directions, gates, size], recurrence
/// [directions, gates, hidden], biases [directions, 2 gates], a first state [directions, batch, hidden].
struct Recurrent {
  enum Input { kSource, kWeights, kRecurrence, kBias, kLengths, kHidden, kCell, kPeepholes };

  Elem type;
  bool tf32;
  int64_t steps, batch, size, hidden, directions, gates;
  bool reverse;  ///< the only direction
  bool bias, lengths, hidden_given, wants_all, wants_hidden;
  size_t width;

  int64_t state() const { return batch * hidden; }
  size_t bytes(int64_t elements) const { return static_cast<size_t>(elements) * width; }
  /// The place in the sequence of the step that is computed `step`-th.
  int64_t at(int64_t step, int64_t direction) const { return is_backward(direction) ? steps - 1 - step : step; }

  bool is_backward(int64_t direction) const { return reverse || direction == 1; }
  /// out [m, n] = a [m, k] w' + bias + beta out.
  void multiply(const Buffers& b, const std::byte* a, const std::byte* w, const std::byte* bias_at, std::byte* out,
                int64_t m, int64_t n, int64_t k, float beta) const;
  /// What the input gives all gates of a direction, [steps, batch, gates].
  void multiply_input(const Buffers& b, int64_t direction, std::byte* out) const;
  /// The recurrence's weights and biases (null: none) of a direction, from this row on.
  const std::byte* recurrence(const Buffers& b, int64_t direction, int64_t row = 0) const {
    return b.in<std::byte>(kRecurrence) + bytes((direction * gates + row) * hidden);
  }
  const std::byte* recurrence_bias(const Buffers& b, int64_t direction, int64_t row = 0) const {
    return bias ? b.in<std::byte>(kBias) + bytes((2 * direction + 1) * gates + row) : nullptr;
  }
  /// One state.
  void copy(const Buffers& b, const std::byte* from, std::byte* to) const;
  /// Where sequences have lengths: what a step at place t made becomes the state of those that run then; `out` may be
  /// null.
  void keep_ended(const Buffers& b, int64_t t, const std::byte* made, std::byte* state, std::byte* out) const;
  /// The state that input i gives for a direction, or zeros, at `to`.
  void start(const Buffers& b, bool given, int i, int64_t direction, std::byte* to) const;
};

/// Of a node with so many gates whose activations, where it names any, are `activations`, again for each direction.
Expected<Recurrent> recurrent_of(const Site& site, int64_t gates, const std::vector<std::string>& activations);

/// Of an LSTM, which may have peepholes.
Expected<Recurrent> lstm_of(const Site& site);

/// Outputs 0 and 1, and as many more states as the node has outputs.
Expected<PlannedStep> recurrent_step(const Site& site, const Recurrent& r);

}  // namespace mlopt::gpu
