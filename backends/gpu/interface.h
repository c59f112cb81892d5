#pragma once
#include <cstddef>
#include <cstdint>

#include "backends/gpu/choice.h"
#include "backends/gpu/device/kernels.h"
#include "backends/gpu/ring.h"

namespace mlopt::gpu {

struct Graph;

/// A GPU as `mlopt devices` shows it.
struct DeviceInfo {
  char name[256];
  int major, minor;  ///< compute capability
  int64_t memory_bytes, free_bytes;
  int multiprocessors, clock_mhz, memory_clock_mhz, bus_bits;
  int driver, runtime, cublas;  ///< versions as CUDA counts them: 13000 is 13.0
};

/// What NVML says of a GPU now; numbers below 0 are not known.
struct Sensors {
  char driver[96];
  int clock_mhz, memory_clock_mhz;  ///< at which it runs
  double watts;
  int celsius;
};

}  // namespace mlopt::gpu

/// What libmlopt_gpu.so offers: CUDA behind plain functions, so that only the plugin needs it, and nothing of C++
/// crosses. Functions that return a Status give null, or what went wrong; a queue is used by one thread at a time.
struct GpuInterface {
  using Queue = mlopt::gpu::Queue;
  using Graph = mlopt::gpu::Graph;
  using Status = mlopt::gpu::Status;

  Status (*count)(int* devices);
  Status (*describe)(int device, mlopt::gpu::DeviceInfo* info);
  /// The queue has a stream and the libraries' handles.
  Status (*open)(int device, Queue** queue);
  void (*close)(Queue* queue);

  /// Device memory, 256-byte aligned. Where there is too little of it, `where` stays null.
  Status (*allocate)(int device, size_t bytes, void** where);
  void (*release)(int device, void* where);
  /// Between memory of the host and the device, either way, put in the queue; what is read may change when it returns,
  /// what is written holds after wait(). Memory of allocate_host() is read when the queue comes to it.
  Status (*transfer)(Queue* queue, void* to, const void* from, size_t bytes);
  Status (*wait)(Queue* queue);
  /// What is put in `queue` from now on waits for what is in `other` by now; where one of them is captured, so is the
  /// other from then on, until the captured one follows it in turn.
  Status (*follow)(Queue* queue, Queue* other);
  /// Memory of the host that copies reach at full speed, and without the host. Where there is too little of it, `where`
  /// stays null.
  Status (*allocate_host)(int device, size_t bytes, void** where);
  void (*release_host)(int device, void* where);
  /// What is put in the queue from now on reports what goes wrong as this step, above 0, in fault(), which the caller
  /// reads when it has waited, and clears.
  void (*begin_step)(Queue* queue, int64_t step);
  mlopt::gpu::Fault* (*fault)(Queue* queue);

  /// The device's own time for what is put in the queue in between; the second waits for it.
  Status (*start_clock)(Queue* queue);
  Status (*stop_clock)(Queue* queue, double* seconds);

  /// What is put in the queue in between is kept, not run; launch() runs it all at once.
  Status (*begin_capture)(Queue* queue);
  Status (*end_capture)(Queue* queue, Graph** graph);
  Status (*launch)(Queue* queue, Graph* graph);
  void (*drop)(Graph* graph);

  /// From now on the queue times algorithms for products and convolutions that it meets for the first time, but for
  /// these; those among them that the library does not take are timed too. chosen() gives what was timed and counts it;
  /// null: counts only.
  void (*tune)(Queue* queue, const mlopt::gpu::Choice* known, int64_t count);
  int64_t (*chosen)(Queue* queue, mlopt::gpu::Choice* into);

  /// A name for what is put in the queue in between, for profilers that watch; may be nested.
  void (*begin_range)(const char* name);
  void (*end_range)();

  /// By NVML, which a machine may lack.
  Status (*sense)(int device, mlopt::gpu::Sensors* sensors);
  /// What the GPU has used since its driver was loaded.
  Status (*energy)(int device, double* joules);

  /// NCCL's, which a machine may lack: its version (22703 is 2.27.3), 0 where it is missing; an id of a new ring, which
  /// all `ranks` join at once by it; sums over all of them in place, put in the queue.
  int (*ring_version)();
  Status (*new_ring)(mlopt::gpu::RingId* id);
  Status (*join)(int device, int rank, int ranks, const mlopt::gpu::RingId* id, mlopt::gpu::Ring** ring);
  void (*leave)(mlopt::gpu::Ring* ring);
  Status (*add_up)(mlopt::gpu::Ring* ring, Queue* queue, const mlopt::gpu::RingPart* parts, int64_t count);

  /// cuDNN's version (91900 is 9.19.0), 0 where it is missing: Kernels::library_conv declines all then.
  int (*conv_version)();
  /// cuSPARSELt's (801 is 0.8.1), 0 where it is missing: Kernels::sparse_product declines all then.
  int (*sparse_version)();

  mlopt::gpu::Kernels kernels;
};

namespace mlopt::gpu {

/// CUDA's, or that of tests; which of them is linked says.
const GpuInterface& gpu_interface();

}  // namespace mlopt::gpu
