#include "tests/support/testdata.h"

#include <cstdlib>

#include "tests/support/paths.h"

namespace mlopt::test {

std::optional<std::filesystem::path> testdata() {
  const char* given = std::getenv("MLOPT_TESTDATA");
  const std::filesystem::path folder = given ? given : source_dir().parent_path() / "shared/testdata";
  return std::filesystem::is_directory(folder) ? std::optional(folder) : std::nullopt;
}

}  // namespace mlopt::test
