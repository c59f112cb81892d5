#pragma once
// Steps of recurrent networks.
#include "backends/gpu/device/launch.h"

namespace mlopt::gpu {

/// One step of an LSTM: gates [batch, 4 * hidden] (input, output, forget, cell) before their activations, which are
/// sigmoid and tanh, make the new cells of those before, which may be the same, and the hidden state. Peepholes
/// [3 * hidden], which may be null, show the cells before to the gates of input and forgetting, and the new ones to
/// that of output.
struct LstmStepArgs {
  Elem type;
  int64_t batch, hidden;
  const void *gates, *before;
  void *cells, *out;
  const void* peepholes = nullptr;
};
Status lstm_step(Queue& queue, const LstmStepArgs& args);

/// What a step at `time` made, [batch, hidden], becomes the state of sequences that are longer; those that have ended,
/// or not begun where they run backward, keep theirs. `out`, which may be null, gets what was made, and their zeros.
struct KeepEndedArgs {
  Elem type;
  int64_t batch, hidden, time;
  const int32_t* lengths;
  const void* made;
  void *state, *out;
};
Status keep_ended(Queue& queue, const KeepEndedArgs& args);

/// The same step backward: `gates` become their gradients, and the gradient of the cells that of the cells before. That
/// of the hidden state is d_hidden, and d_out where that is not null.
struct LstmGradArgs {
  LstmStepArgs step;  ///< `gates` are read where `d_gates` are written
  const void *d_hidden, *d_out;
  void *d_gates, *d_cells;
};
Status lstm_grad(Queue& queue, const LstmGradArgs& args);

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

/// The same step backward, from the gradient of the state, d_hidden and d_out (null: none): d_open [batch, 2 * hidden]
/// are the gradients of update and reset, d_new and d_gated [batch, hidden] those of the new state before tanh and of
/// partial's new. d_hidden becomes what goes to the state before by no product. Where `fresh` is given, d_gated is not
/// made and the reset's gradient is left to gru_reset_grad().
struct GruGradArgs {
  GruStepArgs step;
  const void* d_out;
  void *d_hidden, *d_open, *d_new, *d_gated;
};
Status gru_grad(Queue& queue, const GruGradArgs& args);
/// Of gru_reset(), whose result has the gradient d_gated: adds to d_hidden, and sets the reset's part of d_open.
Status gru_reset_grad(Queue& queue, const GruGradArgs& args);

}  // namespace mlopt::gpu
