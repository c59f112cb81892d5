#pragma once
#include <functional>
#include <string>

#include "core/base/expected.h"

namespace mlopt {

/// What `work` returns, computed in a process of its own: the tools of ONNX may crash or never end on a damaged model,
/// which must not be the end of this program. Declines when it died or took longer than `seconds`. What `work` prints
/// is dropped.
Expected<std::string> run_contained(const std::function<std::string()>& work, int seconds);

}  // namespace mlopt
