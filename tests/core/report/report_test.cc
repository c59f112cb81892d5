#include "core/report/report.h"

#include "core/base/error.h"
#include "tests/support/catch.h"

using namespace mlopt;

namespace {

Report sample() {
  Report report;
  report.title = "mlopt info <m>.onnx";
  report.data["nodes"] = 3;
  report.line("a line & more");
  Table& table = report.table("Sizes", {"name", "bytes"});
  table.rows = {{"weights|x", "12"}, {"größe, \"q\"", "3456"}};
  report.gates.push_back({"max-size", 10, 12, false, "size is 12 bytes, the limit is 10"});
  report.gates.push_back({"tolerance", 0.1, 0.05, true, "0.05 of 0.1"});
  return report;
}

}  // namespace

TEST_CASE("a report as text") {
  CHECK(to_text(sample()) ==
        "a line & more\n\n"
        "Sizes\n"
        "name        bytes\n"
        "weights|x      12\n"
        "größe, \"q\"   3456\n\n"
        "FAILS  max-size: size is 12 bytes, the limit is 10\n"
        "holds  tolerance: 0.05 of 0.1\n");
}

TEST_CASE("a report as JSON has the data and the gates") {
  const Json json = Json::parse(to_json(sample()));
  CHECK(json.find("nodes")->integer() == 3);
  const Json& gate = json.find("gates")->items().at(0);
  CHECK(gate.find("name")->string() == "max-size");
  CHECK(gate.find("limit")->number() == 10);
  CHECK(gate.find("value")->number() == 12);
  CHECK_FALSE(gate.find("holds")->boolean());
  CHECK_FALSE(sample().holds());
}

TEST_CASE("a report as Markdown escapes what would end a cell") {
  const std::string text = to_markdown(sample());
  CHECK(text.find("## mlopt info <m>.onnx\n") == 0);
  CHECK(text.find("| name | bytes |\n| --- | ---: |\n| weights\\|x | 12 |\n") != std::string::npos);
  CHECK(text.find("- **fails** `max-size`") != std::string::npos);
}

TEST_CASE("a report as CSV quotes cells") {
  CHECK(to_csv(sample()) == "name,bytes\nweights|x,12\n\"größe, \"\"q\"\"\",3456\n");
}

TEST_CASE("a report as HTML and as JUnit escapes markup") {
  const std::string html = to_html(sample());
  CHECK(html.find("<h1>mlopt info &lt;m&gt;.onnx</h1>") != std::string::npos);
  CHECK(html.find("<td class=\"left\">weights|x</td><td>12</td>") != std::string::npos);
  const std::string junit = to_junit(sample());
  CHECK(junit.find("tests=\"2\" failures=\"1\"") != std::string::npos);
  CHECK(junit.find("<failure message=\"size is 12 bytes, the limit is 10\"/>") != std::string::npos);
  CHECK(to_junit(Report()).find("tests=\"1\" failures=\"0\"") != std::string::npos);
}
