#pragma once
#include <string>

namespace mlopt {

/// Text inside XML or HTML, also inside an attribute in double quotes; control characters that XML forbids become '?'.
std::string markup_escaped(const std::string& text);

}  // namespace mlopt
