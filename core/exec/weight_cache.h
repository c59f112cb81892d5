#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace mlopt {

/// Weights in the form that kernels pack them in, shared by the plans of one executable.
class WeightCache {
 public:
  /// What `make` gives, made once for each constant (known by the address of its bytes) and `form`.
  template <class T>
  std::shared_ptr<T> get(const void* constant, const std::string& form,
                         const std::function<std::shared_ptr<T>()>& make) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<void>& slot = made_[{constant, form}];
    if (!slot) slot = make();
    return std::static_pointer_cast<T>(slot);
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<const void*, std::string>, std::shared_ptr<void>> made_;
};

/// WeightCache::get(), or a new one where nothing is shared.
template <class T>
std::shared_ptr<T> shared_weights(WeightCache* cache, const void* constant, const std::string& form,
                                  const std::function<std::shared_ptr<T>()>& make) {
  return cache ? cache->get<T>(constant, form, make) : make();
}

}  // namespace mlopt
