#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "cli/peak.h"
#include "cli/verb/verb.h"
#include "core/base/text.h"

namespace mlopt::cli {
namespace {

bool write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(file, bytes.data(), bytes.size());
    if (done > 0) bytes = bytes.subspan(static_cast<size_t>(done));
    if (done <= 0 && errno != EINTR) return false;
  }
  return true;
}

/// The model may be in no file yet: it goes into one that has no name and needs no removal.
std::optional<int64_t> peak_of(const Model& model, const VerbOptions& verb, const Common& common) {
  const int file = ::memfd_create("mlopt", 0);
  if (file < 0) return std::nullopt;
  bool whole = true;
  write_model_to(model, [&](std::span<const std::byte> piece) { whole = whole && write_all(file, piece); });
  std::optional<int64_t> peak;
  if (whole) {
    RunSetting setting{.model = fmt::format("/proc/self/fd/{}", file), .device = common.device, .data = verb.data};
    setting.threads = common.threads;
    setting.seed = common.seed;
    peak = peak_of_run(setting);
  }
  ::close(file);
  return peak;
}

}  // namespace

std::vector<Gate> judge_memory(const VerbOptions& verb, const Model& source, const Model& result,
                               const Session& session) {
  if (!verb.max_memory) return {};
  const std::optional<int64_t> needed = peak_of(result, verb, session.common);
  std::optional<int64_t> before;
  if (verb.max_memory->percent) before = peak_of(source, verb, session.common);
  if (!needed || (verb.max_memory->percent && !before)) {
    return {{"max-memory", verb.max_memory->value, Json(), false, "the memory of a run could not be measured"}};
  }
  const int64_t limit = verb.max_memory->bytes(before.value_or(0));
  return {{"max-memory", limit, *needed, *needed <= limit,
           fmt::format("a run needs {}, the limit is {}", format_bytes(static_cast<double>(*needed)),
                       format_bytes(static_cast<double>(limit)))}};
}

}  // namespace mlopt::cli
