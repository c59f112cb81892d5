#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "backends/gpu/interface.h"
#include "core/exec/kernel.h"

namespace mlopt::gpu {

/// Throws Error{kUnsupported} where a call of the interface failed; `what` says what was tried.
void check(Status status, const std::string& what);

/// A GPU: the interface that reaches it, and its number.
struct Device {
  const GpuInterface* api;
  int index;
};

/// Memory of the host that copies reach at full speed. Throws Error{kUnsupported} where there is too little.
class HostMemory {
 public:
  HostMemory() = default;
  HostMemory(Device device, size_t bytes);

  std::byte* at() const { return memory_.get(); }

 private:
  std::shared_ptr<std::byte> memory_;
};

/// Work that is done in order, by one thread at a time.
class WorkQueue {
 public:
  /// Throws Error{kUnsupported} where the device refuses, NoRoom where it has too little memory.
  explicit WorkQueue(Device device);
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  const GpuInterface& api() const { return *device_.api; }
  Device device() const { return device_; }
  Queue& get() const { return *queue_; }

  /// Between the host and the device, either way.
  void transfer(void* to, const void* from, size_t bytes);
  /// Until all that was put in is done; says what failed meanwhile.
  void wait();
  /// What is put in from now on waits for what is in the other queue by now.
  void follow(WorkQueue& other);
  /// What the device has there by now, for a step that goes on by it. A run that did so cannot be captured.
  void look(void* to, const void* from, size_t bytes);
  bool has_looked() const { return has_looked_; }
  /// Memory of the host for what a run puts aside, kept for the next: the one of this number, of so many bytes.
  std::byte* aside(int64_t number, size_t bytes);
  /// For copies beside what runs here.
  WorkQueue& copies();

 private:
  Device device_;
  Queue* queue_ = nullptr;
  bool has_looked_ = false;
  std::map<int64_t, HostMemory> aside_;
  std::unique_ptr<WorkQueue> copies_;
};

/// Memory of a device. Throws NoRoom where there is too little, with what was needed and free.
class Memory {
 public:
  Memory() = default;
  Memory(Device device, size_t bytes);
  Memory(Memory&&) = default;
  Memory& operator=(Memory&&) = default;

  std::byte* at() const { return memory_.get(); }

 private:
  std::shared_ptr<std::byte> memory_;
};

/// What a step has of its own: bytes on the host until the first run that needs them takes them to the device.
class Brought {
 public:
  explicit Brought(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  const std::byte* at(WorkQueue& queue);

 private:
  std::mutex mutex_;
  std::vector<std::byte> bytes_;
  Memory memory_;
};

/// The bytes of these items.
template <class T>
std::shared_ptr<Brought> brought(const std::vector<T>& items) {
  const auto* first = reinterpret_cast<const std::byte*>(items.data());
  return std::make_shared<Brought>(std::vector<std::byte>(first, first + items.size() * sizeof(T)));
}

/// The queue on which a step runs; the executor leaves it in the memo of each.
inline WorkQueue& queue_of(const Buffers& buffers) { return *std::any_cast<WorkQueue*>(buffers.memo); }

/// Calls kernel(queue, args) of that queue: what a PlannedStep's `run` does.
template <class Args>
void launch(const Buffers& buffers, Status (*Kernels::*kernel)(Queue&, const Args&), const Args& args) {
  const WorkQueue& queue = queue_of(buffers);
  check((queue.api().kernels.*kernel)(queue.get(), args), "a kernel");
}

}  // namespace mlopt::gpu
