#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mlopt::graphopt {

/// Passes that do what other optimizers call by this name, as globs over our names: none where there is nothing left to
/// do for it. Nothing for other names.
std::optional<std::vector<std::string>> passes_of_alias(std::string_view name);

/// Every name that passes_of_alias() knows.
std::vector<std::string> aliases();

}  // namespace mlopt::graphopt
