#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "core/tensor/tensor.h"

namespace mlopt {

/// Drops what nobody holds any more, when as many entries have come since the last time as were left then: so that each
/// is looked at a few times only. `sweep_at`: from 0 on, of the map.
template <class Map>
void drop_expired(Map& map, size_t& sweep_at) {
  constexpr size_t kFew = 64;
  if (map.size() < sweep_at) return;
  std::erase_if(map, [](const auto& entry) { return entry.second.expired(); });
  sweep_at = 2 * map.size() + kFew;
}

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
    drop_expired(made_, sweep_at_);
    std::shared_ptr<T> made = make();
    made_[key] = made;
    return made;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<const void*, std::string>, std::weak_ptr<void>> made_;
  size_t sweep_at_ = 0;
};

/// WeightCache::get(), or a new one where nothing is shared.
template <class T>
std::shared_ptr<T> shared_weights(WeightCache* cache, const Tensor& constant, const std::string& form,
                                  const std::function<std::shared_ptr<T>()>& make) {
  return cache ? cache->get<T>(constant, form, make) : make();
}

}  // namespace mlopt
