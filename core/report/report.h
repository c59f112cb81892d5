#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/report/chart.h"
#include "core/report/json.h"

namespace mlopt {

/// Rows of text; the first `left` columns are left-aligned, the others right-aligned. An empty title shows none.
struct Table {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  size_t left = 1;
};

/// A limit that the user asked to hold.
struct Gate {
  std::string name;   ///< the option that set it ("max-size")
  Json limit, value;  ///< both figures
  bool holds = false;
  std::string words;  ///< "size is 61.2 % of the source, the limit is 50 %"
};

/// What a command found: one tree for programs, and blocks of the same facts for people.
struct Report {
  using Block = std::variant<std::string, Table>;

  std::string title;           ///< "mlopt info resnet50.onnx"
  Json data = Json::object();  ///< written by --json
  std::vector<Block> blocks;   ///< shown in this order
  std::vector<Chart> charts;   ///< shown by to_html() only
  std::vector<Gate> gates;
  std::string failure;  ///< why the command ends with an error although it reports; empty: it does not

  void line(std::string text) { blocks.emplace_back(std::move(text)); }
  Table& table(std::string table_title, std::vector<std::string> columns) {
    return std::get<Table>(blocks.emplace_back(Table{std::move(table_title), std::move(columns), {}, 1}));
  }
  bool holds() const;
};

/// The writers. All end with a newline.
std::string to_text(const Report& report);
/// "holds  max-size: size is ...".
std::string to_text(const Gate& gate);
/// `data` and the gates.
std::string to_json(const Report& report);
std::string to_markdown(const Report& report);
/// The tables, one after the other, separated by an empty line.
std::string to_csv(const Report& report);
/// One self-contained page.
std::string to_html(const Report& report);
/// A test suite with one case for each gate, and one for the failure; one case that passed when there is none of them.
std::string to_junit(const Report& report);

}  // namespace mlopt
