#pragma once
#include <cstdint>

namespace mlopt::quantize {

/// Coordinate descent over rows of numbers until none moves. `pull` is minus half of the slope of the squared error of
/// the outputs along each number, and is kept so. `settle(row, column, wanted)` gives a number what is best for it
/// while all others stay, where `wanted` is how far it would have to move to be exact, and returns how far it moved.
template <class Floats, class Products, class Settle>
void descend(Floats& pull, const Products& products, const Settle& settle) {
  constexpr int kSweeps = 20;  // at most
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    int64_t moved = 0;
    for (int64_t c = 0; c < pull.cols(); ++c) {
      if (!(products(c, c) > 0)) continue;  // never there
      for (int64_t r = 0; r < pull.rows(); ++r) {
        const float change = settle(r, c, pull(r, c) / products(c, c));
        if (change == 0) continue;
        pull.row(r) -= change * products.row(c);
        ++moved;
      }
    }
    if (moved == 0) return;
  }
}

}  // namespace mlopt::quantize
