#pragma once
#include <functional>
#include <memory>

#include "core/exec/backend.h"

namespace mlopt {

/// A backend and what must be done to a model before it compiles there. Made in cli/, handed to whatever runs graphs.
struct Runner {
  Backend& backend;
  std::function<void(Model&)> prepare;
  CompileOptions options = {};

  /// Prepares a copy of the model and compiles it.
  std::unique_ptr<Executable> compile(const Model& model) const {
    Model copy = clone(model);
    prepare(copy);
    return backend.compile(copy, options);
  }
};

}  // namespace mlopt
