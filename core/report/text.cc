#include <fmt/core.h>

#include "core/base/printable.h"
#include "core/report/report.h"
#include "core/report/width.h"

namespace mlopt {
namespace {

std::string padded(const std::string& cell, size_t width, bool left) {
  const std::string space(width - std::min(width, display_width(cell)), ' ');
  return left ? cell + space : space + cell;
}

std::string row_text(const std::vector<std::string>& row, const std::vector<size_t>& widths, size_t left) {
  std::string line;
  for (size_t i = 0; i < row.size(); ++i) line += (i ? "  " : "") + padded(row[i], widths[i], i < left);
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

Table with_printable_cells(Table table) {
  for (auto& row : table.rows)
    for (std::string& cell : row) cell = printable(cell);
  return table;
}

std::string table_text(const Table& table) {
  const std::vector<size_t> widths = column_widths(table);
  std::string text = table.title.empty() ? "" : table.title + "\n";
  text += row_text(table.columns, widths, table.left);
  for (const auto& row : table.rows) text += row_text(row, widths, table.left);
  return text;
}

}  // namespace

std::string to_text(const Report& report) {
  std::string text;
  bool after_table = false;
  for (const Report::Block& block : report.blocks) {
    const Table* table = std::get_if<Table>(&block);
    if (!text.empty() && (table || after_table)) text += "\n";
    text += table ? table_text(with_printable_cells(*table)) : printable_lines(std::get<std::string>(block)) + "\n";
    after_table = table != nullptr;
  }
  if (!report.gates.empty() && !text.empty()) text += "\n";
  for (const Gate& gate : report.gates) text += to_text(gate);
  return text;
}

std::string to_text(const Gate& gate) {
  return fmt::format("{}  {}: {}\n", gate.holds ? "holds" : "FAILS", gate.name, printable(gate.words));
}

}  // namespace mlopt
