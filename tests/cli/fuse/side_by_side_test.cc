#include "cli/fuse/side_by_side.h"

#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

std::string shape(const std::vector<std::string>& left, const std::vector<std::string>& right) {
  std::string text;
  for (const cli::Beside& row : cli::beside(left, right)) {
    text += "=|<>"[static_cast<int>(row.kind)];
    CHECK((row.kind != cli::Beside::Kind::kSame || row.left == row.right));
  }
  return text;
}

}  // namespace

TEST_CASE("two texts stand beside each other, and as much as can stays") {
  CHECK(shape({"a", "b", "c"}, {"a", "b", "c"}) == "===");
  CHECK(shape({"a", "b", "c"}, {"a", "c"}) == "=<=");
  CHECK(shape({"a", "c"}, {"a", "b", "c"}) == "=>=");
  CHECK(shape({"a", "b", "c"}, {"a", "x", "c"}) == "=|=");
  CHECK(shape({"a", "b", "c", "d"}, {"d", "a", "b", "c"}) == ">===<");
  CHECK(shape({"a", "a"}, {"a"}) == "=<");
  CHECK(shape({}, {"a"}) == ">");
  CHECK(shape({"a"}, {}) == "<");
  CHECK(shape({}, {}).empty());
}

TEST_CASE("nodes are lines with their attributes, and those of bodies are set in") {
  const Model model = test::fixture(R"(g (bool c, float[4] x) => (float[4] y) {
    a = LeakyRelu <alpha = 0.5> (x)
    y = If (c) <then_branch = t () => (u) { u = Relu (a) }, else_branch = e () => (v) { v = Exp (a) }>
  })");
  const std::vector<std::string> lines = cli::node_lines(*model.graph);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0] == "a = LeakyRelu(x) alpha=0.5");
  CHECK(lines[2] == "  u = Relu(a)");
}

TEST_CASE("long runs of what stayed are told by their number; the page is whole and escaped") {
  std::vector<std::string> left, right;
  for (int i = 0; i < 20; ++i) left.push_back("n" + std::to_string(i));
  right = left;
  right[10] = "<b>";
  const auto rows = cli::beside(left, right);
  Report report;
  cli::add_table(rows, report);
  const Table& table = std::get<Table>(report.blocks.at(0));
  REQUIRE(table.rows.size() == 7);
  CHECK(table.rows[0][0] == "... 8 nodes as before");
  CHECK(table.rows[3] == std::vector<std::string>{"n10", "|", "<b>"});
  CHECK(table.rows[6][0] == "... 7 nodes as before");
  const std::string page = cli::page_with_graphs(report, rows);
  CHECK(page.find("<td>n19</td>") != std::string::npos);
  CHECK(page.find("<tr class=\"changed\"><td>n10</td><td>&lt;b&gt;</td></tr>") != std::string::npos);
  CHECK(page.find("http") == std::string::npos);
  CHECK(page.find("</html>") > page.find("</table>"));
}
