#include "backends/gpu/weights.h"

namespace mlopt::gpu {

std::byte* Weights::at(const Tensor& tensor) {
  const std::lock_guard lock(mutex_);
  Kept& kept = kept_[tensor.raw()];
  if (!kept.memory.at()) {
    kept = {tensor, Memory(queue_.device(), tensor.bytes())};
    queue_.transfer(kept.memory.at(), tensor.raw(), tensor.bytes());
    queue_.wait();
    tensor.release_pages();
  }
  return kept.memory.at();
}

}  // namespace mlopt::gpu
