#pragma once
#include <span>
#include <vector>

#include "backends/gpu/device_memory.h"

namespace mlopt::gpu {

/// Memory of the host by way of which the inputs and outputs of one run at a time go to the device and back: copies to
/// and from it run at full speed, and beside what the runs before still compute.
class Edges {
 public:
  /// For tensors of these sizes in bytes. Those that would take too much together, and all where the host has too
  /// little, go straight.
  Edges(Device device, std::span<const size_t> sizes);

  /// Puts the copy of tensor i to the device in the queue; `from` may change when it returns.
  void bring(size_t i, std::byte* to, const std::byte* from, WorkQueue& queue);
  /// Puts the copy of tensor i to the host in the queue. After the queue was waited for, finish() has it in `to`.
  void begin_fetch(size_t i, std::byte* to, const std::byte* from, WorkQueue& queue);
  void finish(size_t i, std::byte* to) const;

 private:
  struct Place {
    size_t bytes = 0, offset = 0;
    bool staged = false;
  };
  std::vector<Place> places_;
  HostMemory memory_;
};

}  // namespace mlopt::gpu
