#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "backends/gpu/device_memory.h"
#include "core/tensor/tensor.h"

namespace mlopt::gpu {

/// A tensor's bytes on the device.
struct Weight {
  Tensor tensor;  ///< so that nothing else comes to lie at its address
  Memory memory;
};

/// Weights on the device, each once, whatever plans read it, as long as one of them holds it.
class WeightStore {
 public:
  explicit WeightStore(Device device) : queue_(device) {}
  std::shared_ptr<const Weight> get(const Tensor& tensor);

 private:
  WorkQueue queue_;
  std::mutex mutex_;
  std::map<std::pair<const std::byte*, size_t>, std::weak_ptr<const Weight>> known_;
  size_t sweep_at_ = 0;
};

/// Those that one plan reads, which it holds.
class Weights {
 public:
  explicit Weights(std::shared_ptr<WeightStore> store) : store_(std::move(store)) {}
  /// The tensor's bytes on the device.
  std::byte* at(const Tensor& tensor);

 private:
  std::shared_ptr<WeightStore> store_;
  std::mutex mutex_;
  std::map<std::pair<const std::byte*, size_t>, std::shared_ptr<const Weight>> held_;
};

}  // namespace mlopt::gpu
