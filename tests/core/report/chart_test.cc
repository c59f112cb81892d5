#include "core/report/chart.h"

#include <cmath>

#include "core/report/chart_js.h"
#include "core/report/json.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"

using namespace mlopt;

namespace {

/// What the scripts of a page are given to draw.
Json data_of(const std::string& page) {
  const std::string before = "<script>const charts = ", after = ";\ncharts.forEach";
  const size_t begin = page.find(before) + before.size(), end = page.find(after);
  REQUIRE(end != std::string::npos);
  return Json::parse(page.substr(begin, end - begin));
}

}  // namespace

TEST_CASE("a page has the library once, and a place and the points of each chart") {
  const Chart loss{"loss <of> m", "update", {{"loss", {{1, 4}, {2, NAN}, {5, 1, "last"}}}}};
  const std::string page = to_html({loss, {"nothing", "", {{"", {{1, INFINITY}}}}}, loss});
  CHECK(test::contains(page, "<figcaption>loss &lt;of&gt; m</figcaption><canvas id=\"chart0\">"));
  CHECK(test::contains(page, "<canvas id=\"chart1\">"));
  CHECK_FALSE(test::contains(page, "<canvas id=\"chart2\">"));
  CHECK(page.find(chart_js()) == page.rfind(chart_js()));
  const Json charts = data_of(page);
  REQUIRE(charts.items().size() == 2);
  CHECK(charts.items()[0].find("x")->string() == "update");
  const Json& points = *charts.items()[1].find("lines")->items()[0].find("points");
  REQUIRE(points.items().size() == 2);
  CHECK(points.items()[1].find("y")->number() == 1);
  CHECK(points.items()[1].find("name")->string() == "last");
}

TEST_CASE("a name does not end the script") {
  const std::string page = to_html({{"", "", {{"a</script>b", {{1, 2}}}}}});
  CHECK_FALSE(test::contains(page, "a</script>b"));
  CHECK(data_of(page).items()[0].find("lines")->items()[0].find("name")->string() == "a</script>b");
}

TEST_CASE("without charts there is nothing, without points neither") {
  CHECK(to_html(std::vector<Chart>{}).empty());
  CHECK(to_html({Chart{"", "", {{"", {{NAN, 1}}}}}}).empty());
}

TEST_CASE("a long line is drawn by means") {
  Chart chart{"", "", {{"", {}}}};
  for (int i = 0; i < 100000; ++i) chart.lines[0].points.push_back({double(i), double(i % 2)});
  const Json charts = data_of(to_html({chart}));
  const Json& points = *charts.items()[0].find("lines")->items()[0].find("points");
  REQUIRE(points.items().size() == 1000);
  for (const Json& p : points.items()) REQUIRE(p.find("y")->number() == 0.5);
}

TEST_CASE("the library is whole") {
  CHECK(test::contains(std::string(chart_js()), "Chart.js v"));
  CHECK_FALSE(test::contains(std::string(chart_js()), "</script"));
}
