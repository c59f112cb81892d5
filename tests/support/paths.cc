#include "tests/support/paths.h"

namespace mlopt::test {

std::filesystem::path source_dir() { return MLOPT_SOURCE_DIR; }

std::filesystem::path binary_dir() { return std::filesystem::read_symlink("/proc/self/exe").parent_path(); }

}  // namespace mlopt::test
