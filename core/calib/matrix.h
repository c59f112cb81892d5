#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace mlopt {

/// Row-major numbers: a weight as a row for each output of its layer, or a score for each of these.
struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<float> values = {};

  static Matrix zeros(int64_t rows, int64_t columns) {
    return {rows, columns, std::vector<float>(static_cast<size_t>(rows * columns))};
  }
  float& at(int64_t r, int64_t c) { return values[static_cast<size_t>(r * columns + c)]; }
  float at(int64_t r, int64_t c) const { return values[static_cast<size_t>(r * columns + c)]; }
  std::span<float> row(int64_t r) { return std::span(values).subspan(static_cast<size_t>(r * columns), width()); }
  std::span<const float> row(int64_t r) const {
    return std::span(values).subspan(static_cast<size_t>(r * columns), width());
  }
  size_t width() const { return static_cast<size_t>(columns); }
};

}  // namespace mlopt
