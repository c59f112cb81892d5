#pragma once
#include <string>
#include <vector>

namespace mlopt {

/// One chart of a page, with axes of numbers.
struct Chart {
  struct Point {
    double x, y;
    std::string name = {};  ///< shown where the reader points to it
  };
  struct Line {
    std::string name;
    std::vector<Point> points;
    bool joined = true;  ///< false: points only
  };

  std::string title, x_name;
  std::vector<Line> lines;
};

/// A figure for each chart and the scripts that draw them, in HTML that needs nothing else. Points that are not finite
/// are left out, and of more than 1000 of a line means of neighbours are drawn. Empty when nothing is left to draw.
std::string to_html(const std::vector<Chart>& charts);

}  // namespace mlopt
