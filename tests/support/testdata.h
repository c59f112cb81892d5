#pragma once
#include <filesystem>
#include <optional>

namespace mlopt::test {

/// The folder of third-party models and data, which is no part of the project: $MLOPT_TESTDATA, else ../shared/testdata
/// beside the source tree. Nothing where it is absent: the test then calls skip().
std::optional<std::filesystem::path> testdata();

}  // namespace mlopt::test
