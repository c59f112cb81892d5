#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/exec/backend.h"

namespace mlopt {

/// How often something is done in a second, measured several times.
struct Rate {
  double best = 0, median = 0;
  int runs = 0;
};

/// The two limits of what a machine can do (Williams, Waterman, Patterson 2009): how fast it computes, and how fast it
/// moves bytes to and from memory.
struct Roofline {
  int threads = 1;
  int64_t size = 0;          ///< of the square matrices that were multiplied
  int64_t copy_bytes = 0;    ///< of the array that was copied
  Rate gflops;               ///< of a product of float32 matrices, a multiplication and an addition being two
  std::optional<Rate> int8;  ///< the same of u8 by s8; nothing where it was not asked for or the backend cannot
  Rate copy;                 ///< in 10^9 bytes, those read and those written
};

struct RooflineOptions {
  int64_t size = 2048;             ///< of the matrices; less where a product would take too long
  double product_seconds = 2;      ///< that one may take on one thread
  int64_t copy_bytes = 500000000;  ///< of an array that is copied: twice that is moved; less where memory is short
  double seconds = 0.4;            ///< of each of the three, at least; never less than three runs
  bool int8 = true;
};

/// One for each of the thread counts. Runs graphs of one product of a matrix with a constant one, as any user of the
/// backend would, and copies an array.
std::vector<Roofline> measure_rooflines(Backend& backend, const std::vector<int>& threads,
                                        const RooflineOptions& options);

/// The rate (as Roofline::gflops) that the limits allow for `flops` operations on `bytes`.
double attainable(double peak, double gb_per_s, double flops, double bytes);

}  // namespace mlopt
