#pragma once
#include <cstddef>

#include "backends/gpu/choice.h"
#include "backends/gpu/device/windows.h"

namespace mlopt::gpu {

/// A queue's handle of cuDNN, and what is known there of the convolutions that it has met.
struct Convolver;

/// A convolution; a transposed one, as conv_transpose() has it; or the gradient of the weights, `out`, of `in` and of
/// what comes in the place of the weights, the gradient of what the convolution makes.
enum class ConvKind { kForward, kTransposed, kWeightGrad };

/// A convolution for the library, which fuses what it can and has our kernels do the rest behind.
struct LibraryConvArgs {
  ConvKind kind;
  ConvArgs conv;
  bool tf32;   ///< float32 may be rounded to 10 bits
  void* room;  ///< the device's, for the library
  size_t room_bytes;
  bool* declined;  ///< the host's: set where the library does not take it; `out` holds nothing then
};

/// As GpuInterface has it.
int conv_version();
/// The first time the library's proposals are tried, or timed (--autotune); what ran is kept for the queue.
Status library_conv(Queue& queue, const LibraryConvArgs& args);
void drop(Convolver* convolver);

// What they need of CUDA, or of what stands for it.
extern const char* const kConvLibraries[2];  ///< names for dlopen(); null: no more
void* stream_handle(Queue& queue);
Convolver*& convolver_of(Queue& queue);
/// Are algorithms to be timed now?
bool tunes_now(Queue& queue);
/// Completes the choice where it was made before.
bool known_choice(Queue& queue, Choice& choice);
void note_choice(Queue& queue, const Choice& choice);

}  // namespace mlopt::gpu
