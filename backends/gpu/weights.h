#pragma once
#include <map>
#include <mutex>

#include "backends/gpu/device_memory.h"
#include "core/tensor/tensor.h"

namespace mlopt::gpu {

/// Weights on the device, each once, whatever plans read it.
class Weights {
 public:
  explicit Weights(Device device) : queue_(device) {}
  /// The tensor's bytes there.
  std::byte* at(const Tensor& tensor);

 private:
  struct Kept {
    Tensor tensor;  ///< so that nothing else comes to lie at its address
    Memory memory;
  };
  WorkQueue queue_;
  std::mutex mutex_;
  std::map<const std::byte*, Kept> kept_;
};

}  // namespace mlopt::gpu
