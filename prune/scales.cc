#include "prune/scales.h"

#include <cmath>

namespace mlopt::prune {
namespace {

constexpr Scale kScales[] = {
    {"none", "scores as they are", scale_nothing},
    {"channel", "by the norm of each output's scores: immune to what a normalization multiplied it by", scale_channels},
    {"layer", "by the norm of the layer's scores", scale_layer},
};

void divide_by_norm(std::span<float> scores) {
  double squares = 0;
  for (const float x : scores) squares += static_cast<double>(x) * x;
  if (squares == 0) return;
  const double factor = 1 / std::sqrt(squares);
  for (float& x : scores) x = static_cast<float>(x * factor);
}

}  // namespace

void scale_nothing(Matrix&) {}

void scale_channels(Matrix& scores) {
  for (int64_t r = 0; r < scores.rows; ++r) divide_by_norm(scores.row(r));
}

void scale_layer(Matrix& scores) { divide_by_norm(scores.values); }

std::span<const Scale> scales() { return kScales; }

}  // namespace mlopt::prune
