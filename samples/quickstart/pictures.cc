#include "samples/quickstart/pictures.h"

#include <array>
#include <cmath>
#include <span>

#include "core/base/file.h"
#include "core/base/parallel.h"

namespace mlopt::quickstart {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr size_t kPixels = size_t{kSide} * kSide;

/// A smooth map of the unit square onto the picture: an affine one, and waves that bend it.
class Distortion {
 public:
  explicit Distortion(Rng& rng) {
    const double turn = rng.uniform(-0.3, 0.3), shear = rng.uniform(-0.3, 0.3);
    const double width = rng.uniform(12, 20), height = rng.uniform(15, 23);
    xx_ = width * std::cos(turn);
    xy_ = height * (shear * std::cos(turn) - std::sin(turn));
    yx_ = width * std::sin(turn);
    yy_ = height * (shear * std::sin(turn) + std::cos(turn));
    x0_ = kSide / 2.0 + rng.uniform(-3, 3);
    y0_ = kSide / 2.0 + rng.uniform(-3, 3);
    for (Wave& wave : waves_) {
      wave = {rng.uniform(1, 7), rng.uniform(1, 7), rng.uniform(0, 2 * kPi), rng.uniform(-0.8, 0.8),
              rng.uniform(-0.8, 0.8)};
    }
  }

  Point operator()(Point p) const {
    const double u = p.x - 0.5, v = p.y - 0.5;
    Point to = {x0_ + xx_ * u + xy_ * v, y0_ + yx_ * u + yy_ * v};
    for (const Wave& wave : waves_) {
      const double height = std::sin(wave.fx * p.x + wave.fy * p.y + wave.phase);
      to.x += wave.x * height;
      to.y += wave.y * height;
    }
    return to;
  }

 private:
  struct Wave {
    double fx = 0, fy = 0, phase = 0;  ///< radians for the unit square
    double x = 0, y = 0;               ///< pixels
  };

  double xx_, xy_, yx_, yy_, x0_, y0_;
  std::array<Wave, 3> waves_;
};

/// A straight line is cut up, so that it bends too.
Stroke distorted(const Stroke& stroke, const Distortion& distortion) {
  constexpr int kPieces = 4;
  Stroke result = {distortion(stroke[0])};
  for (size_t i = 1; i < stroke.size(); ++i) {
    const Point a = stroke[i - 1], b = stroke[i];
    for (int piece = 1; piece <= kPieces; ++piece) {
      const double t = static_cast<double>(piece) / kPieces;
      result.push_back(distortion({a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)}));
    }
  }
  return result;
}

/// Short strokes that belong to no digit.
void draw_clutter(Canvas& canvas, Rng& rng) {
  for (int64_t left = rng.integer(1, 4); left > 0; --left) {
    const Point from = {rng.uniform(0, kSide), rng.uniform(0, kSide)};
    const double length = rng.uniform(2, 8), angle = rng.uniform(0, 2 * kPi);
    const Point to = {from.x + length * std::cos(angle), from.y + length * std::sin(angle)};
    canvas.draw({from, to}, rng.uniform(0.3, 1), rng.uniform(0.3, 0.8));
  }
}

void draw_picture(int digit, Rng& rng, std::span<uint8_t> bytes) {
  Canvas canvas;
  canvas.paint_background(rng.uniform(0.05, 0.25), rng.uniform(-0.2, 0.2), rng.uniform(-0.2, 0.2));
  draw_clutter(canvas, rng);
  const Distortion distortion(rng);
  const double pen_radius = rng.uniform(0.5, 1.6), ink = rng.uniform(0.65, 1);
  for (const Stroke& stroke : digit_strokes(digit, rng)) canvas.draw(distorted(stroke, distortion), pen_radius, ink);
  canvas.blur(rng.uniform());
  canvas.add_noise(rng.uniform(0.02, 0.08), rng);
  canvas.write(bytes);
}

void write_idx_file(const std::string& path, std::initializer_list<int64_t> dims, std::span<const uint8_t> bytes) {
  std::string head = {0, 0, 0x08, static_cast<char>(dims.size())};
  for (const int64_t dim : dims) {
    for (int shift = 24; shift >= 0; shift -= 8) head += static_cast<char>(dim >> shift & 0xff);
  }
  AtomicFile file(path);
  file.write(head);
  file.write(std::as_bytes(bytes));
  file.commit();
}

}  // namespace

Pictures draw_pictures(int64_t count, uint64_t seed) {
  Pictures pictures;
  pictures.pixels.resize(static_cast<size_t>(count) * kPixels);
  pictures.labels.resize(static_cast<size_t>(count));
  parallel_for(count, 64, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Rng rng((seed << 32) + static_cast<uint64_t>(i));
      const auto digit = static_cast<int>(i % 10);
      const auto at = static_cast<size_t>(i);
      pictures.labels[at] = static_cast<uint8_t>(digit);
      draw_picture(digit, rng, std::span(pictures.pixels).subspan(at * kPixels, kPixels));
    }
  });
  return pictures;
}

void write_idx(const Pictures& pictures, const std::string& folder, const std::string& name) {
  write_idx_file(folder + "/" + name + "-images.idx", {pictures.count(), kSide, kSide}, pictures.pixels);
  write_idx_file(folder + "/" + name + "-labels.idx", {pictures.count()}, pictures.labels);
}

}  // namespace mlopt::quickstart
