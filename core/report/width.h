#pragma once
#include <string>
#include <vector>

#include "core/report/report.h"

namespace mlopt {

/// Columns that UTF-8 text takes in a terminal, counted as one for each code point.
size_t display_width(const std::string& text);
/// The widest cell of each column; rows may be longer than the header.
std::vector<size_t> column_widths(const Table& table);

}  // namespace mlopt
