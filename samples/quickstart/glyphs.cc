#include "samples/quickstart/glyphs.h"

#include <algorithm>
#include <array>

namespace mlopt::quickstart {
namespace {

struct Path {
  bool smooth;
  std::vector<Point> points;
};
using Glyph = std::vector<Path>;

/// The first way of writing is the common one.
const std::array<std::vector<Glyph>, 10>& glyphs() {
  static const std::array<std::vector<Glyph>, 10> table = {{
      {{{true, {{.5, .04}, {.25, .2}, {.17, .5}, {.25, .8}, {.5, .96}, {.75, .8}, {.83, .5}, {.75, .2}, {.5, .04}}}}},
      {{{false, {{.3, .25}, {.55, .05}, {.55, .95}}}},
       {{false, {{.5, .05}, {.5, .95}}}},
       {{false, {{.3, .25}, {.52, .05}, {.52, .95}}}, {false, {{.25, .95}, {.8, .95}}}}},
      {{{true, {{.2, .27}, {.35, .07}, {.65, .07}, {.8, .28}, {.65, .52}, {.4, .73}, {.18, .95}}},
        {false, {{.18, .95}, {.84, .95}}}}},
      {{{true, {{.2, .12}, {.5, .04}, {.78, .2}, {.7, .4}, {.42, .48}}},
        {true, {{.42, .48}, {.75, .55}, {.82, .75}, {.6, .95}, {.18, .88}}}}},
      {{{false, {{.65, .95}, {.65, .05}, {.16, .65}, {.86, .65}}}},
       {{false, {{.25, .05}, {.2, .55}, {.84, .55}}}, {false, {{.68, .1}, {.68, .95}}}}},
      {{{false, {{.78, .05}, {.28, .05}, {.24, .45}}},
        {true, {{.24, .45}, {.5, .38}, {.78, .52}, {.8, .75}, {.55, .95}, {.2, .88}}}}},
      {{{true,
         {{.7, .05}, {.4, .22}, {.22, .55}, {.25, .85}, {.5, .96}, {.76, .82}, {.72, .58}, {.48, .5}, {.24, .68}}}}},
      {{{false, {{.18, .05}, {.82, .05}, {.4, .95}}}},
       {{false, {{.18, .05}, {.82, .05}, {.42, .95}}}, {false, {{.36, .5}, {.76, .5}}}}},
      {{{true,
         {{.5, .48},
          {.26, .35},
          {.28, .12},
          {.5, .04},
          {.72, .12},
          {.74, .35},
          {.5, .48},
          {.22, .62},
          {.2, .85},
          {.5, .96},
          {.8, .85},
          {.78, .62},
          {.5, .48}}}}},
      {{{true,
         {{.75, .34}, {.52, .5}, {.28, .42}, {.24, .2}, {.5, .04}, {.75, .15}, {.77, .45}, {.6, .78}, {.32, .95}}}},
       {{true, {{.75, .3}, {.52, .5}, {.28, .42}, {.24, .2}, {.5, .04}, {.75, .15}}},
        {false, {{.75, .15}, {.72, .95}}}}},
  }};
  return table;
}

/// A point of the curve of Catmull and Rom between b and c.
Point between(Point a, Point b, Point c, Point d, double t) {
  const auto blend = [t](double p, double q, double r, double s) {
    return 0.5 * (2 * q + t * (r - p + t * (2 * p - 5 * q + 4 * r - s + t * (3 * (q - r) + s - p))));
  };
  return {blend(a.x, b.x, c.x, d.x), blend(a.y, b.y, c.y, d.y)};
}

Stroke flatten(const Path& path) {
  if (!path.smooth) return path.points;
  constexpr int kPieces = 6;
  const auto& p = path.points;
  const size_t last = p.size() - 1;
  Stroke stroke = {p[0]};
  for (size_t i = 0; i < last; ++i) {
    const Point before = p[i == 0 ? 0 : i - 1], after = p[std::min(i + 2, last)];
    for (int piece = 1; piece <= kPieces; ++piece)
      stroke.push_back(between(before, p[i], p[i + 1], after, static_cast<double>(piece) / kPieces));
  }
  return stroke;
}

}  // namespace

std::vector<Stroke> digit_strokes(int digit, Rng& rng) {
  const auto& ways = glyphs().at(static_cast<size_t>(digit));
  const bool common = rng.uniform() < 0.5;
  const auto way = common ? 0 : static_cast<size_t>(rng.integer(0, static_cast<int64_t>(ways.size()) - 1));
  std::vector<Stroke> strokes;
  for (const Path& path : ways[way]) strokes.push_back(flatten(path));
  return strokes;
}

}  // namespace mlopt::quickstart
