#include "core/base/console.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "core/base/printable.h"

namespace mlopt {

void write_stderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

Progress::Progress(bool show, std::string label, int64_t total)
    : show_(show && total > 0), label_(std::move(label)), total_(total) {}

Progress::~Progress() {
  if (drawn_) write_stderr("\r\033[K");
}

void Progress::set(int64_t done, std::string_view more) {
  if (!show_) return;
  const auto now = std::chrono::steady_clock::now();
  if (drawn_ && now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  drawn_ = true;
  constexpr int64_t kWidth = 30;
  const auto filled = static_cast<size_t>(std::clamp<int64_t>(kWidth * done / total_, 0, kWidth));
  write_stderr(fmt::format("\r\033[K{} [{:<{}}] {}/{}{}{}", label_, std::string(filled, '='), kWidth, done, total_,
                           more.empty() ? "" : "  ", more));
}

Console::Console(bool quiet, bool verbose) : quiet_(quiet), verbose_(verbose), terminal_(isatty(STDERR_FILENO) == 1) {}

void Console::warn(std::string_view text) const {
  if (!quiet_) write_stderr(fmt::format("warning: {}\n", printable(text)));
}

void Console::note(std::string_view text) const {
  if (verbose_) write_stderr(fmt::format("{}\n", text));
}

}  // namespace mlopt
