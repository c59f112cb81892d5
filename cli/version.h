#pragma once
#include <string_view>

namespace mlopt::cli {

/// "0.1.0".
std::string_view version();
/// Changes with every change of what plugins see; a plugin of another build is refused.
std::string_view build_id();

}  // namespace mlopt::cli
