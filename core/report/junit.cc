#include <fmt/core.h>

#include <algorithm>

#include "core/report/markup.h"
#include "core/report/report.h"

namespace mlopt {
namespace {

std::string test_case(const std::string& suite, const Gate& gate) {
  const std::string head =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\"", markup_escaped(suite), markup_escaped(gate.name));
  if (gate.holds) return head + "/>\n";
  return fmt::format("{}>\n      <failure message=\"{}\"/>\n    </testcase>\n", head, markup_escaped(gate.words));
}

}  // namespace

std::string to_junit(const Report& report) {
  std::vector<Gate> cases = report.gates;
  if (!report.failure.empty()) cases.push_back({"done", {}, {}, false, report.failure});
  if (cases.empty()) cases.push_back({"done", {}, {}, true, ""});
  const auto failures = std::count_if(cases.begin(), cases.end(), [](const Gate& gate) { return !gate.holds; });
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"{}\" tests=\"{}\" "
      "failures=\"{}\">\n",
      markup_escaped(report.title), cases.size(), failures);
  for (const Gate& gate : cases) text += test_case("mlopt", gate);
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace mlopt
