#include "samples/quickstart/canvas.h"

#include <algorithm>
#include <cmath>

namespace mlopt::quickstart {
namespace {

double distance(Point p, Point a, Point b) {
  const double dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
  const double t = length2 > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length2, 0.0, 1.0) : 0;
  const double ex = a.x + t * dx - p.x, ey = a.y + t * dy - p.y;
  return std::sqrt(ex * ex + ey * ey);
}

}  // namespace

void Canvas::paint_background(double level, double dx, double dy) {
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) at(y, x) = level + dx * (x / (kSide - 1.0) - 0.5) + dy * (y / (kSide - 1.0) - 0.5);
  }
}

void Canvas::draw(const Stroke& stroke, double pen_radius, double ink) {
  for (size_t i = 1; i < stroke.size(); ++i) draw_line(stroke[i - 1], stroke[i], pen_radius, ink);
}

void Canvas::draw_line(Point a, Point b, double pen_radius, double ink) {
  const double reach = pen_radius + 1;
  const auto first = [&](double p, double q) {
    return std::max(0, static_cast<int>(std::floor(std::min(p, q) - reach)));
  };
  const auto last = [&](double p, double q) {
    return std::min(kSide - 1, static_cast<int>(std::ceil(std::max(p, q) + reach)));
  };
  for (int y = first(a.y, b.y); y <= last(a.y, b.y); ++y) {
    for (int x = first(a.x, b.x); x <= last(a.x, b.x); ++x) {
      const Point p = {static_cast<double>(x), static_cast<double>(y)};
      const double cover = std::clamp(pen_radius + 0.5 - distance(p, a, b), 0.0, 1.0);
      // The lines of a stroke overlap: the pen leaves no more than its ink.
      at(y, x) = std::max(at(y, x), cover * ink);
    }
  }
}

void Canvas::blur(double strength) {
  const double side = strength / 4;
  const auto pass = [&](int step_y, int step_x) {
    const Canvas before = *this;
    const auto old = [&before](int y, int x) {
      return before.pixels_[static_cast<size_t>(std::clamp(y, 0, kSide - 1) * kSide + std::clamp(x, 0, kSide - 1))];
    };
    for (int y = 0; y < kSide; ++y) {
      for (int x = 0; x < kSide; ++x)
        at(y, x) = (1 - 2 * side) * old(y, x) + side * (old(y - step_y, x - step_x) + old(y + step_y, x + step_x));
    }
  };
  pass(1, 0);
  pass(0, 1);
}

void Canvas::add_noise(double deviation, Rng& rng) {
  for (double& pixel : pixels_) pixel += deviation * rng.normal();
}

void Canvas::write(std::span<uint8_t> bytes) const {
  for (size_t i = 0; i < pixels_.size(); ++i)
    bytes[i] = static_cast<uint8_t>(std::lround(255 * std::clamp(pixels_[i], 0.0, 1.0)));
}

}  // namespace mlopt::quickstart
