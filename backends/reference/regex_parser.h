#pragma once
#include <string_view>
#include <vector>

#include "backends/reference/regex.h"

namespace mlopt::reference {

/// Appends the states of a pattern; gives the one to start in. Errors as Regex's constructor.
int parse_regex(std::string_view pattern, std::vector<RegexState>& states);

}  // namespace mlopt::reference
