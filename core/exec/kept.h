#pragma once
#include <memory>
#include <mutex>
#include <vector>

namespace mlopt {

/// What runs work on, one at a time, kept for later ones: each run takes one, or makes one where all are taken, and
/// gives it back. One that is not given back, because its run failed, is gone.
template <class T>
class Kept {
 public:
  template <class Make>
  std::unique_ptr<T> take(const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto one = std::move(free_.back());
        free_.pop_back();
        return one;
      }
    }
    return make();
  }
  void give_back(std::unique_ptr<T> one) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(one));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> free_;
};

}  // namespace mlopt
