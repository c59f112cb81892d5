#include "core/report/chart.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/report/markup.h"

namespace mlopt {
namespace {

using Points = std::vector<std::pair<double, double>>;

constexpr size_t kMost = 1000;
constexpr double kWidth = 640, kHeight = 240, kLeft = 70, kBottom = 30, kTop = 10;

Points drawn(const Points& points) {
  Points finite, means;
  for (const auto& [x, y] : points)
    if (std::isfinite(x) && std::isfinite(y)) finite.emplace_back(x, y);
  const size_t group = (finite.size() + kMost - 1) / kMost;
  for (size_t i = 0; i < finite.size(); i += group) {
    const size_t end = std::min(finite.size(), i + group);
    double x = 0, y = 0;
    for (size_t k = i; k < end; ++k) x += finite[k].first, y += finite[k].second;
    means.emplace_back(x / static_cast<double>(end - i), y / static_cast<double>(end - i));
  }
  return means;
}

/// Where the numbers from `low` to `high` lie between two places of the picture.
struct Scale {
  double low, high, from, to;

  double operator()(double value) const {
    return high > low ? from + (value - low) / (high - low) * (to - from) : (from + to) / 2;
  }
};

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"12\">{}</text>\n", x, y, anchor,
                     markup_escaped(text));
}

}  // namespace

std::string to_svg(const Chart& chart) {
  const Points points = drawn(chart.points);
  if (points.empty()) return {};
  const auto by_y = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [least, most] = std::minmax_element(points.begin(), points.end(), by_y);
  const Scale x{points.front().first, points.back().first, kLeft, kWidth - 10};
  const Scale y{least->second, most->second, kHeight - kBottom, kTop};
  std::string line;
  for (const auto& [a, b] : points) line += fmt::format("{:.1f},{:.1f} ", x(a), y(b));
  std::string svg =
      fmt::format("<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\">\n", kWidth, kHeight);
  svg += fmt::format("<title>{}</title>\n", markup_escaped(chart.title));
  svg += fmt::format("<path d=\"M{0} {1}V{2}H{3}\" fill=\"none\" stroke=\"#888\"/>\n", kLeft, kTop, kHeight - kBottom,
                     kWidth - 10);
  svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"#06c\" stroke-width=\"1.5\"/>\n", line);
  svg += text_at(kLeft - 5, kTop + 10, "end", fmt::format("{:.4g}", y.high));
  svg += text_at(kLeft - 5, kHeight - kBottom, "end", fmt::format("{:.4g}", y.low));
  svg += text_at(kLeft, kHeight - 10, "start", fmt::format("{:.6g}", x.low));
  svg += text_at(kWidth - 10, kHeight - 10, "end", fmt::format("{:.6g}", x.high));
  svg += text_at((kLeft + kWidth) / 2, kHeight - 10, "middle", chart.x_name);
  return svg + "</svg>\n";
}

}  // namespace mlopt
