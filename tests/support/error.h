#pragma once
#include <string>

#include "core/base/error.h"

namespace mlopt::test {

/// What the Error says that `run` throws; "" when it throws none.
template <class Run>
std::string error_of(const Run& run) {
  try {
    run();
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

/// Is `part` somewhere in `text`?
inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace mlopt::test
