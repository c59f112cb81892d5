#pragma once
#include <string>
#include <string_view>

namespace mlopt {

/// `text` on one line and safe for a terminal: control characters, and bytes that are no UTF-8, become \n, \t or \xNN.
/// Names in a model or an archive may hold anything.
std::string printable(std::string_view text);
/// The same for a text of several lines, which stay.
std::string printable_lines(std::string_view text);

}  // namespace mlopt
