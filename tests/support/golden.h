#pragma once
#include <string>

namespace mlopt::test {

/// Checks that the text is what the file in the tests' source tree holds ("cli/help/run.txt"). With
/// MLOPT_UPDATE_GOLDEN=1 in the environment it is written there instead.
void check_golden(const std::string& name, const std::string& text);

}  // namespace mlopt::test
