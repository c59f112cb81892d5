#include "core/report/chart.h"

#include <algorithm>
#include <cmath>

#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("a chart draws its points from its lowest to its highest") {
  const std::string svg = to_svg({"loss <of> m", "update", {{1, 4}, {2, 2}, {3, NAN}, {5, 1}}});
  CHECK(svg.find("loss &lt;of&gt; m") != std::string::npos);
  CHECK(svg.find("points=\"70.0,10.0 210.0,143.3 630.0,210.0 \"") != std::string::npos);
  CHECK(svg.find(">4<") != std::string::npos);
  CHECK(svg.find(">update<") != std::string::npos);
}

TEST_CASE("a chart of one point, of equal ones, of none") {
  CHECK(to_svg({"", "", {}}).empty());
  CHECK(to_svg({"", "", {{1, INFINITY}}}).empty());
  CHECK(to_svg({"", "", {{1, 3}}}).find("350.0,110.0") != std::string::npos);
  CHECK(to_svg({"", "", {{1, 3}, {2, 3}}}).find("70.0,110.0 630.0,110.0") != std::string::npos);
}

TEST_CASE("a long curve is drawn by means") {
  Chart chart{"", "", {}};
  for (int i = 0; i < 100000; ++i) chart.points.emplace_back(i, i % 2);
  const std::string svg = to_svg(chart);
  CHECK(std::count(svg.begin(), svg.end(), ',') == 1000);
  CHECK(svg.find(">0.5<") != std::string::npos);
}
