#pragma once
#include <array>
#include <map>
#include <mutex>
#include <string>

#include "backends/gpu/device_memory.h"

namespace mlopt::gpu {

/// --autotune: the algorithms that were the fastest for products and convolutions on this GPU by this driver and
/// libraries, kept in a file for later runs. A file that is damaged, or of another GPU, driver or library, counts for
/// nothing and is replaced; one that cannot be written is done without.
class Tuning {
 public:
  /// The file lies in `folder`; empty: $XDG_CACHE_HOME/mlopt or ~/.cache/mlopt, or no file without either.
  explicit Tuning(Device device, std::string folder = {});

  /// Has a new queue time what is not known yet.
  void begin(WorkQueue& queue);
  /// Takes over what the queue has timed, and writes the file when that is news.
  void note(WorkQueue& queue);

  const std::string& path() const { return path_; }

 private:
  using Product = std::array<int64_t, 14>;
  using Algorithm = std::array<uint64_t, 8>;
  std::map<Product, Algorithm> stored() const;
  void write();

  std::string path_, header_;
  std::mutex mutex_;
  std::map<Product, Algorithm> known_;
};

}  // namespace mlopt::gpu
