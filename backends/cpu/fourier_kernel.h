#pragma once
#include <cstdint>
#include <vector>

#include "core/ir/fourier.h"

namespace mlopt::cpu {

/// Where the points of many signals lie, in floats: point j of signal i at
/// i / inner * outer + i % inner * beside + j * point.
struct SignalPlaces {
  int64_t outer = 0, beside = 0, point = 0;
};

/// One transform of many signals, computed by passes over all of their points, one for each factor of the length, after
/// which the spectrum is in order (Stockham's way, as in Van Loan, Computational Frameworks for the FFT, 1992).
struct FourierPlan {
  Fourier how = {};
  int64_t signals = 0;
  int64_t inner = 1;  ///< signals that lie beside each other
  SignalPlaces in = {}, out = {};
  std::vector<int64_t> factors = {};
  std::vector<double> cosines = {}, sines = {};  ///< of each part of a turn, in the direction of the transform
};

/// Fills in factors, cosines and sines for the length. False: a factor is so large that another way is faster.
bool factorize(FourierPlan& plan);

/// Transforms the signals from `begin` to `end`; each point is first multiplied by its factor in `window` (null: all
/// 1).
void transform(const FourierPlan& plan, const float* x, const float* window, float* y, int64_t begin, int64_t end);

}  // namespace mlopt::cpu
