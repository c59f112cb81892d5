#pragma once
#include <memory>
#include <string>

#include "backends/gpu/device_memory.h"
#include "core/exec/state.h"

namespace mlopt::gpu {

/// The values of a store that plans work on, in memory of the device where they stay from run to run: they are brought
/// there once, and again after the host has changed them.
class DeviceState {
 public:
  DeviceState(std::shared_ptr<StateStore> store, Device device);

  bool has(const std::string& name) const { return store_->has(name); }
  /// Where the value lies as long as the store lives.
  std::byte* at(const std::string& name);
  /// Puts what the host has changed since into the queue.
  void bring(const std::string& name, WorkQueue& queue);
  /// From now on the device's value is the one that holds.
  void note_change(const std::string& name);

 private:
  class Copy;
  struct Access;
  Copy& copy_of(const std::string& name);

  std::shared_ptr<StateStore> store_;
  std::shared_ptr<Access> access_;  ///< by which the host looks at values
};

}  // namespace mlopt::gpu
