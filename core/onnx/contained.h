#pragma once
#include <functional>
#include <string>

#include "core/base/expected.h"

namespace mlopt {

/// Why a process gave no result: it died, or took longer than it was given, which says nothing about its work.
struct Unfinished {
  std::string reason;
  bool late = false;
};

/// What `work` returns, computed in a process of its own: the tools of ONNX may crash or never end on a damaged model,
/// which must not be the end of this program. What `work` prints is dropped.
Expected<std::string, Unfinished> run_contained(const std::function<std::string()>& work, int seconds);

}  // namespace mlopt
