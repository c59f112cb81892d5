#include "backends/gpu/weights.h"

#include "core/exec/weight_cache.h"

namespace mlopt::gpu {

std::shared_ptr<const Weight> WeightStore::get(const Tensor& tensor) {
  const std::lock_guard lock(mutex_);
  const std::pair key{tensor.raw(), tensor.bytes()};
  if (auto known = known_[key].lock()) return known;
  drop_expired(known_, sweep_at_);
  auto made = std::make_shared<const Weight>(Weight{tensor, Memory(queue_.device(), tensor.bytes())});
  queue_.transfer(made->memory.at(), tensor.raw(), tensor.bytes());
  queue_.wait();
  tensor.release_pages();
  known_[key] = made;
  return made;
}

std::byte* Weights::at(const Tensor& tensor) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const Weight>& weight = held_[{tensor.raw(), tensor.bytes()}];
  if (!weight) weight = store_->get(tensor);
  return weight->memory.at();
}

}  // namespace mlopt::gpu
