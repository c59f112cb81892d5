#include <fmt/core.h>

#include "core/base/printable.h"
#include "core/report/report.h"

namespace mlopt {
namespace {

/// A cell may hold a bar, which would end it.
std::string escaped(const std::string& cell) {
  std::string out;
  for (const char c : printable(cell)) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string row_text(const std::vector<std::string>& row) {
  std::string line = "|";
  for (const std::string& cell : row) line += " " + escaped(cell) + " |";
  return line + "\n";
}

std::string table_text(const Table& table) {
  std::string text = table.title.empty() ? "" : "**" + table.title + "**\n\n";
  text += row_text(table.columns) + "|";
  for (size_t i = 0; i < table.columns.size(); ++i) text += i < table.left ? " --- |" : " ---: |";
  text += "\n";
  for (const auto& row : table.rows) text += row_text(row);
  return text;
}

}  // namespace

std::string to_markdown(const Report& report) {
  std::string text = "## " + printable(report.title) + "\n";
  for (const Report::Block& block : report.blocks) {
    const Table* table = std::get_if<Table>(&block);
    text += "\n" + (table ? table_text(*table) : printable_lines(std::get<std::string>(block)) + "\n");
  }
  if (!report.failure.empty()) text += fmt::format("\n**error**: {}\n", printable(report.failure));
  if (!report.gates.empty()) text += "\n";
  for (const Gate& gate : report.gates) {
    text += fmt::format("- {} `{}`: {}\n", gate.holds ? "holds" : "**fails**", gate.name, printable(gate.words));
  }
  return text;
}

}  // namespace mlopt
