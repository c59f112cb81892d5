#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace mlopt {

/// Writes to standard error. Where that is closed or full nobody can be told, and the command goes on.
void write_stderr(std::string_view text);

/// A bar on the last line of the terminal, removed when it goes out of scope.
class Progress {
 public:
  /// Shows nothing when `show` is false.
  Progress(bool show, std::string label, int64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` of the total; redrawn at most ten times a second, with `more` behind the numbers.
  void set(int64_t done, std::string_view more = {});

 private:
  bool show_;
  bool drawn_ = false;
  std::string label_;
  int64_t total_;
  std::chrono::steady_clock::time_point last_{};
};

/// How a command speaks to the person while it works: on standard error, never on standard output.
class Console {
 public:
  Console(bool quiet, bool verbose);

  void warn(std::string_view text) const;  ///< "warning: ..." unless --quiet
  void note(std::string_view text) const;  ///< only with --verbose
  /// A bar when standard error is a terminal and --quiet was not given.
  Progress progress(std::string label, int64_t total) const { return {terminal_ && !quiet_, std::move(label), total}; }
  bool verbose() const { return verbose_; }

 private:
  bool quiet_, verbose_, terminal_;
};

}  // namespace mlopt
