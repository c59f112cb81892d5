#include "core/report/report.h"

namespace mlopt {
namespace {

/// Quoted as RFC 4180 has it, when it must be.
std::string field(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string out = "\"";
  for (const char c : cell) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string row_text(const std::vector<std::string>& row) {
  std::string line;
  for (size_t i = 0; i < row.size(); ++i) line += (i ? "," : "") + field(row[i]);
  return line + "\n";
}

}  // namespace

std::string to_csv(const Report& report) {
  std::string text;
  for (const Report::Block& block : report.blocks) {
    const Table* table = std::get_if<Table>(&block);
    if (!table) continue;
    if (!text.empty()) text += "\n";
    text += row_text(table->columns);
    for (const auto& row : table->rows) text += row_text(row);
  }
  return text;
}

}  // namespace mlopt
