#pragma once
// Steps of recurrent networks.
#include "backends/gpu/device/launch.h"

namespace mlopt::gpu {

/// One step of an LSTM: gates [batch, 4 * hidden] (input, output, forget, cell) before their activations, which are
/// sigmoid and tanh, make the new cells of the old ones, in place, and the hidden state.
struct LstmStepArgs {
  Elem type;
  int64_t batch, hidden;
  const void* gates;
  void *cells, *out;
};
Status lstm_step(Queue& queue, const LstmStepArgs& args);

/// One step of a GRU: gates [batch, 3 * hidden] (update, reset, new) that the input gives, and `partial` that the state
/// before gives. Where `fresh` is null that is of the same shape, and out = (1 - update) * tanh(new + reset * partial's
/// new) + update * before. Else it is [batch, 2 * hidden], and `fresh` [batch, hidden] stands for the last product.
struct GruStepArgs {
  Elem type;
  int64_t batch, hidden;
  const void *gates, *partial, *fresh, *before;
  void* out;
};
Status gru_step(Queue& queue, const GruStepArgs& args);
/// out = reset * before, of `partial` [batch, 2 * hidden].
Status gru_reset(Queue& queue, const GruStepArgs& args);

}  // namespace mlopt::gpu
