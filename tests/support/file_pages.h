#pragma once
#include <cstdint>
#include <fstream>

namespace mlopt::test {

/// Pages of mapped files that are in this process's memory; 0 where the system does not tell.
inline int64_t file_pages() {
  int64_t size = 0, resident = 0, shared = 0;
  std::ifstream("/proc/self/statm") >> size >> resident >> shared;
  return shared;
}

}  // namespace mlopt::test
