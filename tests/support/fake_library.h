#pragma once
#include <dlfcn.h>

#include <filesystem>
#include <string>

#include "tests/support/paths.h"

namespace mlopt::test {

/// lib<name>.so of the build, which stands for a library that is opened where it is installed; its `State` says that it
/// is present while this lives. Null where tests were packed without it.
template <class State>
class FakeLibrary {
 public:
  FakeLibrary(const std::string& name, const char* state_function) {
    const auto library = binary_dir() / ("lib" + name + ".so");
    void* opened = std::filesystem::exists(library) ? dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (!opened) return;
    state_ = reinterpret_cast<State* (*)()>(dlsym(opened, state_function))();
    *state_ = {.present = true};
  }
  ~FakeLibrary() {
    if (state_) *state_ = {};
  }
  FakeLibrary(const FakeLibrary&) = delete;
  FakeLibrary& operator=(const FakeLibrary&) = delete;

  State* operator->() const { return state_; }
  explicit operator bool() const { return state_; }

 private:
  State* state_ = nullptr;
};

}  // namespace mlopt::test
