#pragma once
#include <string>

#include "core/base/error.h"
#include "tests/support/catch.h"

namespace mlopt::test {

/// The Error that `fn` throws; fails the test case when it throws none.
template <class Fn>
Error thrown_by(const Fn& fn) {
  try {
    fn();
  } catch (const Error& error) {
    return error;
  }
  FAIL("nothing was thrown");
  return {Code::kOk, ""};
}

/// Does the error's text hold `part`?
inline bool says(const Error& error, const std::string& part) {
  return std::string(error.what()).find(part) != std::string::npos;
}

}  // namespace mlopt::test
