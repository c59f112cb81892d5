#pragma once
#include <cmath>
#include <vector>

#include "core/calib/histogram.h"
#include "tests/support/op.h"

namespace mlopt::test {

/// The quantiles (i + 1/2) / n of the Laplace distribution: what a stream of such numbers tends to, the same anywhere.
inline std::vector<float> laplace(int n) {
  std::vector<float> x;
  for (int i = 0; i < n; ++i) {
    const double u = (i + 0.5) / n - 0.5;
    x.push_back(static_cast<float>((u < 0 ? 1 : -1) * std::log(1 - 2 * std::fabs(u))));
  }
  return x;
}

inline Tensor row(const std::vector<float>& x) { return Tensor::of<float>({static_cast<int64_t>(x.size())}, x); }

inline Histogram histogram_of(const std::vector<float>& x) {
  Histogram h;
  h.see(row(x));
  return h;
}

/// Each number with all below zero made zero.
inline std::vector<float> relu(std::vector<float> x) {
  for (float& v : x) v = std::max(v, 0.0f);
  return x;
}

}  // namespace mlopt::test
