#include "core/report/chart.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/report/chart_js.h"
#include "core/report/json.h"
#include "core/report/markup.h"

namespace mlopt {
namespace {

using Points = std::vector<Chart::Point>;

constexpr size_t kMost = 1000;

// `charts` is defined before. Hues a golden angle apart stay different however many there are.
constexpr const char* kScript = R"(charts.forEach((chart, i) => new Chart('chart' + i, {
  type: 'scatter',
  data: {datasets: chart.lines.map((line, k) => ({
    label: line.name, data: line.points, showLine: line.joined, pointRadius: line.points.length > 60 ? 0 : 3,
    borderColor: `hsl(${210 + 137.5 * k} 70% 45%)`, backgroundColor: `hsl(${210 + 137.5 * k} 70% 45%)`}))},
  options: {
    animation: false,
    scales: {x: {title: {display: true, text: chart.x}}},
    plugins: {
      legend: {display: chart.lines.length > 1},
      tooltip: {callbacks: {label: at => [at.raw.name ?? at.dataset.label, `${at.parsed.x}: ${at.parsed.y}`]}}}}}));
)";

Points drawn(const Points& points) {
  Points finite, means;
  for (const Chart::Point& p : points)
    if (std::isfinite(p.x) && std::isfinite(p.y)) finite.push_back(p);
  if (finite.size() <= kMost) return finite;
  const size_t group = (finite.size() + kMost - 1) / kMost;
  for (size_t i = 0; i < finite.size(); i += group) {
    const size_t end = std::min(finite.size(), i + group);
    Chart::Point mean{0, 0};
    for (size_t k = i; k < end; ++k) mean.x += finite[k].x, mean.y += finite[k].y;
    means.push_back({mean.x / static_cast<double>(end - i), mean.y / static_cast<double>(end - i)});
  }
  return means;
}

/// Null when there is nothing to draw.
Json to_json(const Chart& chart) {
  Json lines = Json::array();
  bool any = false;
  for (const Chart::Line& line : chart.lines) {
    Json points = Json::array();
    for (const Chart::Point& p : drawn(line.points)) {
      Json point = Json::object({{"x", p.x}, {"y", p.y}});
      if (!p.name.empty()) point["name"] = p.name;
      points.push_back(std::move(point));
      any = true;
    }
    lines.push_back(Json::object({{"name", line.name}, {"points", std::move(points)}, {"joined", line.joined}}));
  }
  return any ? Json::object({{"x", chart.x_name}, {"lines", std::move(lines)}}) : Json();
}

/// A name may not end the script that it stands in.
std::string in_script(const Json& json) {
  std::string text;
  for (const char c : json.dump()) c == '<' ? text += "\\u003c" : text += c;
  return text;
}

}  // namespace

std::string to_html(const std::vector<Chart>& charts) {
  Json all = Json::array();
  std::string figures;
  size_t count = 0;
  for (const Chart& chart : charts) {
    Json one = to_json(chart);
    if (one.is_null()) continue;
    figures += fmt::format("<figure><figcaption>{}</figcaption><canvas id=\"chart{}\"></canvas></figure>\n",
                           markup_escaped(chart.title), count++);
    all.push_back(std::move(one));
  }
  if (figures.empty()) return {};
  return figures + fmt::format("<script>{}</script>\n<script>const charts = {};\n{}</script>\n", chart_js(),
                               in_script(all), kScript);
}

}  // namespace mlopt
