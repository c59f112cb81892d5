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

}  // namespace mlopt::gpu
