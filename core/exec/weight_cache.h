#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "core/tensor/tensor.h"

namespace mlopt {

/// Weights in the form that kernels pack them in, shared by the plans of one executable, or of several, while a plan
/// holds them.
class WeightCache {
 public:
  /// What `make` gives, made once for each constant (known by where its bytes lie, and its dims) and `form` while
  /// somebody holds it. Who holds it keeps the constant too: later constants may lie where those of a plan lay that is
  /// gone.
  template <class T>
  std::shared_ptr<T> get(const Tensor& constant, const std::string& form,
                         const std::function<std::shared_ptr<T>()>& make) {
    const std::lock_guard lock(mutex_);
    const std::pair key{static_cast<const void*>(constant.raw()), to_string(constant.dims()) + " " + form};
    if (const auto known = made_[key].lock()) return std::static_pointer_cast<T>(known);
    if (made_.size() >= sweep_at_) {
      std::erase_if(made_, [](const auto& entry) { return entry.second.expired(); });
      sweep_at_ = 2 * made_.size() + 64;
    }
    std::shared_ptr<T> made = make();
    made_[key] = made;
    return made;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<const void*, std::string>, std::weak_ptr<void>> made_;
  size_t sweep_at_ = 64;  ///< entries at which those of weights that are gone are dropped
};

/// WeightCache::get(), or a new one where nothing is shared.
template <class T>
std::shared_ptr<T> shared_weights(WeightCache* cache, const Tensor& constant, const std::string& form,
                                  const std::function<std::shared_ptr<T>()>& make) {
  return cache ? cache->get<T>(constant, form, make) : make();
}

}  // namespace mlopt
