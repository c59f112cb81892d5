#pragma once
#include <dlfcn.h>

#include <type_traits>

namespace mlopt::gpu {

/// A library that a machine may lack, which stays open from then on.
class Opened {
 public:
  /// `name` as dlopen() takes it; null opens nothing.
  explicit Opened(const char* name) : handle_(name ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : nullptr) {}

  explicit operator bool() const { return handle_ != nullptr; }

  /// Has it the function? Its type is not checked.
  template <typename Function>
  bool find(const char* name, Function& function) const {
    function = reinterpret_cast<std::decay_t<Function>>(dlsym(handle_, name));
    return function != nullptr;
  }

 private:
  void* handle_;
};

}  // namespace mlopt::gpu
