#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/paths.h"

// One pass, one method, one family of operators a file: a file that outgrows this limit holds two of something.

namespace {

namespace fs = std::filesystem;
constexpr std::ptrdiff_t kMostLines = 300;

std::ptrdiff_t lines_of(const fs::path& file) {
  std::ifstream stream(file);
  return std::count(std::istreambuf_iterator<char>(stream), {}, '\n');
}

bool is_source(const fs::path& path) {
  return path.extension() == ".cc" || path.extension() == ".h" || path.extension() == ".cu";
}

}  // namespace

TEST_CASE("no source file is long") {
  int files = 0;
  for (const char* top :
       {"core", "graphopt", "quantize", "prune", "distill", "backends", "cli", "samples", "tests", "bench"}) {
    const fs::path folder = mlopt::test::source_dir() / top;
    if (!fs::exists(folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (!is_source(entry.path())) continue;
      ++files;
      const std::ptrdiff_t lines = lines_of(entry.path());
      if (lines > kMostLines) FAIL_CHECK(entry.path().string() << " has " << lines << " lines");
    }
  }
  CHECK(files > 100);
}
