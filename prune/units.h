#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/calib/matrix.h"
#include "core/calib/weights.h"
#include "prune/spec.h"

namespace mlopt::prune {

/// What goes or stays as one: blocks of so many rows and columns of a weight's matrix; those at its ends may be
/// smaller.
struct Units {
  int64_t rows, columns;          ///< of the matrix
  int64_t height = 1, width = 1;  ///< of a block
  int64_t across() const { return (columns + width - 1) / width; }
  int64_t down() const { return (rows + height - 1) / height; }
  int64_t count() const { return across() * down(); }
  int64_t of(int64_t r, int64_t c) const { return r / height * across() + c / width; }
  /// The weights in unit u.
  int64_t size(int64_t u) const {
    return std::min(height, rows - u / across() * height) * std::min(width, columns - u % across() * width);
  }
};

Units units_of(const Weight& weight, const Granularity& granularity);

/// The mean score of each unit (l1), or the root of the mean square (l2); below 0 where all its weights are 0 already,
/// so that these go first.
std::vector<float> unit_scores(const Units& units, const Matrix& scores, const Matrix& values, const std::string& norm);

/// A weight's units while it is decided which of them go.
struct Candidate {
  const Weight* weight = nullptr;
  Units units;
  std::vector<float> scores;  ///< of each unit
  std::vector<bool> removed;  ///< of each unit: filled in by an allocation
};

}  // namespace mlopt::prune
