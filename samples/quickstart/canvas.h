#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/rng.h"
#include "samples/quickstart/glyphs.h"

namespace mlopt::quickstart {

constexpr int kSide = 32;  ///< of a picture, in pixels

/// A square picture of gray values from 0 (black) to 1.
class Canvas {
 public:
  Canvas() : pixels_(kSide * kSide, 0.0) {}

  /// A plane of brightness: `level` in the middle, changing by `dx` and `dy` over the side.
  void paint_background(double level, double dx, double dy);
  /// Draws a stroke (in pixels) over what is there with a round pen.
  void draw(const Stroke& stroke, double pen_radius, double ink);
  /// Mixes each pixel with its neighbours: 0 nothing, 1 the binomial kernel 1 2 1 in both directions.
  void blur(double strength);
  void add_noise(double deviation, Rng& rng);
  /// kSide * kSide bytes, row-major.
  void write(std::span<uint8_t> bytes) const;

 private:
  double& at(int y, int x) { return pixels_[static_cast<size_t>(y * kSide + x)]; }
  void draw_line(Point a, Point b, double pen_radius, double ink);

  std::vector<double> pixels_;
};

}  // namespace mlopt::quickstart
