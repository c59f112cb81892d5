#pragma once
#include <exception>
#include <string>

namespace mlopt {

/// The exit statuses of the program; every Error carries one.
enum class Code {
  kOk = 0,
  kGate = 1,         ///< done, but a gate does not hold
  kUsage = 2,        ///< the command line is wrong
  kBadInput = 3,     ///< the model or the data is bad or missing
  kUnsupported = 4,  ///< this machine or build cannot do it
  kInternal = 70,    ///< a bug of ours
};

/// Thrown when a command cannot go on: what is wrong, where (file, node, tensor), and what to do about it.
/// Printed as `error: WHAT: WHERE` and `  fix: FIX`; `where` and `fix` may be empty.
class Error : public std::exception {
 public:
  Error(Code code, const std::string& what, const std::string& where = {}, const std::string& fix = {});

  Code code;
  std::string message;
  std::string where;
  std::string fix;

  /// The two lines that go to standard error.
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

[[noreturn]] void usage_error(const std::string& what, const std::string& where = {}, const std::string& fix = {});
[[noreturn]] void input_error(const std::string& what, const std::string& where = {}, const std::string& fix = {});
[[noreturn]] void unsupported_error(const std::string& what, const std::string& where = {},
                                    const std::string& fix = {});
/// For a broken invariant of ours: the message names the invariant.
[[noreturn]] void internal_error(const std::string& what, const std::string& where = {});

}  // namespace mlopt
