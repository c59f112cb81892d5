#pragma once
#include <string>
#include <utility>
#include <vector>

namespace mlopt {

/// A curve through points (x, y), x rising.
struct Chart {
  std::string title, x_name;
  std::vector<std::pair<double, double>> points;
};

/// An SVG element, its text escaped; points that are not finite are left out, and of more than 1000 points means of
/// neighbours are drawn. Empty when nothing is left to draw.
std::string to_svg(const Chart& chart);

}  // namespace mlopt
