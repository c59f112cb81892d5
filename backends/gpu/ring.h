#pragma once
#include <cstdint>

#include "backends/gpu/device/launch.h"

namespace mlopt::gpu {

/// The GPUs of a parallel run's ranks, which add up numbers where these lie.
struct Ring;

/// What the ranks of one ring have in common; one of them makes it.
struct RingId {
  char bytes[128];
};

/// Numbers of the device that are added up in their place: float32, float16 or bfloat16.
struct RingPart {
  Elem type;
  void* values;
  int64_t count;
};

// As GpuInterface has them.
int ring_version();
Status new_ring(RingId* id);
Status join(int device, int rank, int ranks, const RingId* id, Ring** ring);
void leave(Ring* ring);
Status add_up(Ring* ring, Queue* queue, const RingPart* parts, int64_t count);

// What they need of CUDA, or of what stands for it.
Status use_device(int device);
void* stream_handle(Queue& queue);

}  // namespace mlopt::gpu
