#pragma once
#include <filesystem>

namespace mlopt::test {

/// The root of the source tree.
std::filesystem::path source_dir();

/// The folder of the test executable, which also holds the program and the test plugin.
std::filesystem::path binary_dir();

/// The program, `mlopt`.
inline std::filesystem::path program() { return binary_dir() / "mlopt"; }

}  // namespace mlopt::test
