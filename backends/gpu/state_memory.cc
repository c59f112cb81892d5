#include "backends/gpu/state_memory.h"

#include <algorithm>

#include "backends/gpu/operand.h"
#include "core/base/error.h"

namespace mlopt::gpu {

struct DeviceState::Access {
  explicit Access(Device device) : queue(device), found(device, sizeof(int32_t)) {}
  WorkQueue queue;
  Memory found;  ///< whether a kernel found what it looked for
};

class DeviceState::Copy : public StateCopy {
 public:
  Copy(std::shared_ptr<Access> access, const Tensor& value)
      : access_(std::move(access)),
        memory_(device(), value.bytes()),
        type_(value.dtype()),
        count_(value.size()),
        bytes_(value.bytes()) {}

  void read(std::byte* bytes) override {
    access_->queue.transfer(bytes, memory_.at(), bytes_);
    access_->queue.wait();
  }
  bool all_finite(std::span<StateCopy* const> copies) override {
    WorkQueue& queue = access_->queue;
    int32_t bad = 0;
    queue.transfer(access_->found.at(), &bad, sizeof bad);
    for (size_t from = 0; from < copies.size(); from += FiniteArgs::kParts) {
      FiniteArgs args{};
      args.bad = reinterpret_cast<int32_t*>(access_->found.at());
      for (StateCopy* copy : copies.subspan(from, std::min<size_t>(FiniteArgs::kParts, copies.size() - from))) {
        const auto* part = dynamic_cast<const Copy*>(copy);
        if (!part) internal_error("a state has memory on one device only", "looking for infinite numbers");
        args.parts[args.count++] = {*float_of(part->type_), part->count_, part->at()};
      }
      check(queue.api().kernels.find_infinite(queue.get(), args), "looking for infinite numbers");
    }
    queue.transfer(&bad, access_->found.at(), sizeof bad);
    queue.wait();
    return bad == 0;
  }
  std::byte* at() const { return memory_.at(); }
  Device device() const { return access_->queue.device(); }

 private:
  std::shared_ptr<Access> access_;
  Memory memory_;
  DType type_;
  int64_t count_;
  size_t bytes_;
};

DeviceState::DeviceState(std::shared_ptr<StateStore> store, Device device)
    : store_(std::move(store)), access_(std::make_shared<Access>(device)) {}

DeviceState::Copy& DeviceState::copy_of(const std::string& name) {
  if (!store_->copy(name)) store_->keep_copy(name, std::make_shared<Copy>(access_, store_->on_host(name)));
  auto* copy = dynamic_cast<Copy*>(store_->copy(name).get());
  const Device device = access_->queue.device();
  if (!copy || copy->device().api != device.api || copy->device().index != device.index)
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
