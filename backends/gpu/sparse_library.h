#pragma once
#include <cstddef>
#include <cstdint>

#include "backends/gpu/device/launch.h"

namespace mlopt::gpu {

/// A queue's handle of cuSPARSELt, and the products that it has met.
struct SparseMultiplier;

/// out [m, n] = x [m, k] times weights of which in four neighbours along k two are zero: stored [n, k], or [k, n] where
/// `turned`. Half floats, summed in float32.
struct SparseProductArgs {
  Elem type;
  bool turned;
  int64_t m, n, k;
  const void *x, *weights;  ///< the weights compressed
  void* out;
  void* room;  ///< the device's, for the library
  size_t room_bytes;
  bool* declined;  ///< the host's: set where the library does not take it
};

/// What compresses weights, which serves products of any m. Without `to`: how many bytes it takes, in `bytes` and, for
/// the time being, in `room_bytes`.
struct SparseCompressArgs {
  Elem type;
  bool turned;
  int64_t n, k;
  const void* weights;
  void *to, *room;
  size_t *bytes, *room_bytes;
  bool* declined;
};

/// As GpuInterface has it.
int sparse_version();
Status sparse_compress(Queue& queue, const SparseCompressArgs& args);
Status sparse_product(Queue& queue, const SparseProductArgs& args);
void drop(SparseMultiplier* multiplier);

// What they need of CUDA, or of what stands for it.
extern const char* const kSparseLibrary;  ///< a name for dlopen()
void* stream_handle(Queue& queue);
SparseMultiplier*& sparse_multiplier_of(Queue& queue);

}  // namespace mlopt::gpu
