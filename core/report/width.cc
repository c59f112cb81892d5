#include "core/report/width.h"

#include <algorithm>

namespace mlopt {

size_t display_width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::vector<size_t> column_widths(const Table& table) {
  std::vector<size_t> widths;
  const auto widen = [&](const std::vector<std::string>& row) {
    if (widths.size() < row.size()) widths.resize(row.size());
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  };
  widen(table.columns);
  for (const auto& row : table.rows) widen(row);
  return widths;
}

}  // namespace mlopt
