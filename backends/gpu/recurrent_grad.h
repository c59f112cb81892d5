#pragma once
#include "backends/gpu/recurrent.h"

namespace mlopt::gpu {

/// The backward pass of a recurrent layer, which runs the layer again: its inputs 0 to 7, then the gradients of its
/// outputs; gives those of X, W, R, B, the first states, and P.
class RecurrentGrad {
 public:
  enum Input { kOut = 8, kLastHidden, kLastCell };
  enum Output { kSource, kWeights, kRecurrence, kBias, kHidden, kCell, kPeepholes };

  /// `layer` is that of the node, as recurrent_of() has it.
  RecurrentGrad(const Site& site, const Recurrent& layer);

  const Recurrent& layer() const { return layer_; }
  /// The outputs, with `numbers` of the layer's type as scratch memory.
  Expected<PlannedStep> step(const Site& site, int64_t numbers) const;

  /// States of a direction in `all` [steps + 1, batch, hidden], by the place of a step in the sequence: those that the
  /// step starts from lie behind one another in the order of X.
  std::byte* befores(std::byte* all, int64_t direction) const {
    return all + (layer_.is_backward(direction) ? layer_.bytes(layer_.state()) : 0);
  }
  std::byte* before(std::byte* all, int64_t direction, int64_t place) const {
    return befores(all, direction) + layer_.bytes(place * layer_.state());
  }
  std::byte* after(std::byte* all, int64_t direction, int64_t place) const {
    return all + layer_.bytes((place + (layer_.is_backward(direction) ? 0 : 1)) * layer_.state());
  }
  /// Puts the first states there.
  void start(const Buffers& b, bool given, int input, int64_t direction, std::byte* all) const;
  /// The gradient of a last state, into `to`.
  void start_back(const Buffers& b, int input, int64_t direction, std::byte* to) const {
    layer_.start(b, gives(input), input, direction, to);
  }
  /// What the whole sequence's gradient is at this place; null: none.
  const std::byte* out_at(const Buffers& b, int64_t direction, int64_t place) const;

  /// d_hidden = beta d_hidden + sums [batch, rows] times R's rows from `row` on.
  void back(const Buffers& b, int64_t direction, int64_t row, int64_t rows, const std::byte* sums, std::byte* d_hidden,
            float beta) const;
  /// From the gradients of what gates get, `sums` [steps, batch, rows], for the gates' rows from `row` on: those of R
  /// and its bias, which `states` [steps, batch, hidden] were multiplied by.
  void recur(const Buffers& b, int64_t direction, int64_t row, int64_t rows, const std::byte* sums,
             const std::byte* states) const;
  /// Likewise those of W, its bias and X.
  void project(const Buffers& b, int64_t direction, int64_t row, int64_t rows, const std::byte* sums) const;
  /// The gradient of the first state of a direction.
  void finish(const Buffers& b, Output output, int64_t direction, const std::byte* from) const;
  /// Zeros, where the output is wanted.
  void clear(const Buffers& b, Output output, int64_t count) const;

 private:
  bool gives(int input) const { return (given_ >> input & 1) != 0; }
  bool wants(int output) const { return (wanted_ >> output & 1) != 0; }
  void multiply(const Buffers& b, bool a_transposed, const std::byte* a, const std::byte* x, std::byte* out, int64_t m,
                int64_t n, int64_t k, float beta) const;
  void add_rows(const Buffers& b, const std::byte* sums, int64_t rows, std::byte* out) const;

  Recurrent layer_;
  uint32_t given_ = 0, wanted_ = 0;
};

}  // namespace mlopt::gpu
