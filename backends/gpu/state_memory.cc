#include "backends/gpu/state_memory.h"

#include "core/base/error.h"

namespace mlopt::gpu {

class DeviceState::Copy : public StateCopy {
 public:
  Copy(std::shared_ptr<WorkQueue> queue, size_t bytes)
      : queue_(std::move(queue)), memory_(queue_->device(), bytes), bytes_(bytes) {}

  void read(std::byte* bytes) override {
    queue_->transfer(bytes, memory_.at(), bytes_);
    queue_->wait();
  }
  std::byte* at() const { return memory_.at(); }
  Device device() const { return queue_->device(); }

 private:
  std::shared_ptr<WorkQueue> queue_;
  Memory memory_;
  size_t bytes_;
};

DeviceState::DeviceState(std::shared_ptr<StateStore> store, Device device)
    : store_(std::move(store)), queue_(std::make_shared<WorkQueue>(device)) {}

DeviceState::Copy& DeviceState::copy_of(const std::string& name) {
  if (!store_->copy(name)) store_->keep_copy(name, std::make_shared<Copy>(queue_, store_->on_host(name).bytes()));
  auto* copy = dynamic_cast<Copy*>(store_->copy(name).get());
  if (!copy || copy->device().api != queue_->device().api || copy->device().index != queue_->device().index)
    internal_error("a state has memory on one device only", name);
  return *copy;
}

std::byte* DeviceState::at(const std::string& name) { return copy_of(name).at(); }

void DeviceState::note_change(const std::string& name) { copy_of(name).newer = true; }

void DeviceState::bring(const std::string& name, WorkQueue& queue) {
  Copy& copy = copy_of(name);
  if (copy.current) return;
  const Tensor& value = store_->at(name);
  queue.transfer(copy.at(), value.raw(), value.bytes());
  copy.current = true;
}

}  // namespace mlopt::gpu
