#include <fmt/core.h>

#include "core/report/markup.h"
#include "core/report/report.h"

namespace mlopt {
namespace {

constexpr const char* kStyle =
    "body{font:15px/1.5 sans-serif;max-width:70em;margin:2em auto;padding:0 1em}"
    "h1{font-size:1.3em;overflow-wrap:anywhere}"
    "table{border-collapse:collapse;margin:1em 0}caption{text-align:left;font-weight:bold}"
    "th,td{border-bottom:1px solid #ccc;padding:.2em .8em;text-align:right}"
    ".left{text-align:left}.fails{color:#b00}";

std::string row_text(const std::vector<std::string>& row, const char* tag, size_t left) {
  std::string line = "<tr>";
  for (size_t i = 0; i < row.size(); ++i) {
    line += fmt::format("<{0}{1}>{2}</{0}>", tag, i < left ? " class=\"left\"" : "", markup_escaped(row[i]));
  }
  return line + "</tr>\n";
}

std::string table_text(const Table& table) {
  std::string text = "<table>\n";
  if (!table.title.empty()) text += "<caption>" + markup_escaped(table.title) + "</caption>\n";
  text += row_text(table.columns, "th", table.left);
  for (const auto& row : table.rows) text += row_text(row, "td", table.left);
  return text + "</table>\n";
}

}  // namespace

std::string to_html(const Report& report) {
  const std::string title = markup_escaped(report.title);
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{0}</title><style>{1}</style></head>\n"
      "<body>\n<h1>{0}</h1>\n",
      title, kStyle);
  for (const Report::Block& block : report.blocks) {
    const Table* table = std::get_if<Table>(&block);
    text += table ? table_text(*table) : "<p>" + markup_escaped(std::get<std::string>(block)) + "</p>\n";
  }
  text += to_html(report.charts);
  if (!report.failure.empty()) text += "<p class=\"fails\">error: " + markup_escaped(report.failure) + "</p>\n";
  for (const Gate& gate : report.gates) {
    text += fmt::format("<p class=\"{}\">{}: {}</p>\n", gate.holds ? "holds" : "fails", markup_escaped(gate.name),
                        markup_escaped(gate.words));
  }
  return text + "</body>\n</html>\n";
}

}  // namespace mlopt
