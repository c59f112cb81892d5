#include "core/base/memory.h"

#include <fmt/core.h>
#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/align.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt {
namespace {

/// The number in the line "KEY   123" of a file; 0 where there is none.
int64_t number_after(const char* file, std::string_view key) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    const std::string_view number = trim(std::string_view(line).substr(key.size()));
    return parse_int(number.substr(0, number.find(' '))).value_or(0);
  }
  return 0;
}

/// The number that a file consists of; nothing for "max" and where there is no such file.
std::optional<int64_t> number_in(const char* file) {
  std::ifstream in(file);
  std::string text;
  std::getline(in, text);
  return parse_int(trim(text));
}

}  // namespace

int64_t peak_memory() { return number_after("/proc/self/status", "VmHWM:") * 1024; }

int64_t available_memory() {
  const int64_t system = number_after("/proc/meminfo", "MemAvailable:") * 1024;
  const auto limit = number_in("/sys/fs/cgroup/memory.max"), used = number_in("/sys/fs/cgroup/memory.current");
  if (!limit || !used) return system;
  // Cached files count as used, and are given up when memory is needed.
  const int64_t cached = number_after("/sys/fs/cgroup/memory.stat", "inactive_file ");
  return std::min(system, std::max<int64_t>(1, *limit - *used + cached));
}

void require_memory(size_t bytes, const std::string& what) {
  constexpr size_t kFew = size_t{256} << 20;  // asking the system is cheap beside filling more
  if (bytes < kFew) return;
  const int64_t available = available_memory();
  if (available <= 0 || bytes <= static_cast<uint64_t>(available)) return;
  unsupported_error(fmt::format("out of memory: {} for {}, {} are free", format_bytes(static_cast<double>(bytes)), what,
                                format_bytes(static_cast<double>(available))),
                    {}, "use a smaller batch or a machine with more memory");
}

void give_back_memory() { ::malloc_trim(0); }

void* allocate_aligned(size_t bytes) {
  constexpr size_t kPage = size_t{2} << 20;  // a large one, of x86-64 and of most others
  if (bytes < 2 * kPage) return std::aligned_alloc(kAlignment, std::max(aligned_size(bytes), kAlignment));
  const size_t rounded = (bytes + kPage - 1) / kPage * kPage;
  void* block = std::aligned_alloc(kPage, rounded);
  // The last piece may be no whole page: it takes what is used of it.
  if (block) ::madvise(block, bytes / kPage * kPage, MADV_HUGEPAGE);
  return block;
}

}  // namespace mlopt
