#include "backends/gpu/device_memory.h"

#include <fmt/core.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/exec/plan.h"

namespace mlopt::gpu {

void check(Status status, const std::string& what) {
  if (status)
    unsupported_error(fmt::format("the GPU failed: {}", status), what,
                      "see whether nvidia-smi shows the device, and use --device cpu meanwhile");
}

namespace {

[[noreturn]] void no_room(Device device, const std::string& needed) {
  DeviceInfo info{};
  device.api->describe(device.index, &info);
  throw NoRoom(Code::kUnsupported,
               fmt::format("out of device memory: {} needed, {} free", needed,
                           format_bytes(static_cast<double>(info.free_bytes))),
               info.name, "use a smaller batch, or free memory on the device");
}

}  // namespace

WorkQueue::WorkQueue(Device device) : device_(device) {
  check(device.api->open(device.index, &queue_), fmt::format("opening gpu:{}", device.index));
}

WorkQueue::~WorkQueue() { device_.api->close(queue_); }

void WorkQueue::transfer(void* to, const void* from, size_t bytes) {
  if (bytes > 0) check(api().transfer(queue_, to, from, bytes), "a copy");
}

void WorkQueue::wait() { check(api().wait(queue_), "waiting for what was computed"); }

void WorkQueue::follow(WorkQueue& other) { check(api().follow(queue_, other.queue_), "waiting for another queue"); }

std::byte* WorkQueue::aside(int64_t number, size_t bytes) {
  HostMemory& memory = aside_[number];
  if (!memory.at()) memory = HostMemory(device_, bytes);
  return memory.at();
}

WorkQueue& WorkQueue::copies() {
  if (!copies_) copies_ = std::make_unique<WorkQueue>(device_);
  return *copies_;
}

void WorkQueue::look(void* to, const void* from, size_t bytes) {
  has_looked_ = true;
  transfer(to, from, bytes);
  wait();
}

Memory::Memory(Device device, size_t bytes) {
  void* where = nullptr;
  check(device.api->allocate(device.index, std::max<size_t>(bytes, 256), &where), "memory");
  if (!where) no_room(device, format_bytes(static_cast<double>(bytes)));
  memory_ = {static_cast<std::byte*>(where), [device](std::byte* p) { device.api->release(device.index, p); }};
}

HostMemory::HostMemory(Device device, size_t bytes) {
  void* where = nullptr;
  check(device.api->allocate_host(device.index, std::max<size_t>(bytes, 256), &where), "memory of the host");
  if (!where)
    unsupported_error(fmt::format("out of memory of the host that the GPU reaches: {} needed",
                                  format_bytes(static_cast<double>(bytes))),
                      "--offload", "use a smaller batch, or --recompute in its place");
  memory_ = {static_cast<std::byte*>(where), [device](std::byte* p) { device.api->release_host(device.index, p); }};
}

const std::byte* Brought::at(WorkQueue& queue) {
  const std::lock_guard lock(mutex_);
  if (!memory_.at()) {
    Memory made(queue.device(), bytes_.size());
    queue.transfer(made.at(), bytes_.data(), bytes_.size());
    queue.wait();
    memory_ = std::move(made);
    bytes_ = {};
  }
  return memory_.at();
}

}  // namespace mlopt::gpu
