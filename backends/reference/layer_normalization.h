#pragma once
#include <cmath>
#include <cstdint>
#include <optional>

#include "backends/reference/compute.h"

namespace mlopt::reference {

struct Moments {
  double mean = 0, variance = 0;  ///< of the population
};

/// Mean and variance of `count` elements in two passes; NaN for none.
template <class T>
Moments moments(const T* x, int64_t count) {
  Moments found;
  for (int64_t i = 0; i < count; ++i) found.mean += static_cast<double>(x[i]);
  found.mean /= static_cast<double>(count);
  for (int64_t i = 0; i < count; ++i) {
    const double distance = static_cast<double>(x[i]) - found.mean;
    found.variance += distance * distance;
  }
  found.variance /= static_cast<double>(count);
  return found;
}

/// What a row-wise normalization computes: layer normalization, or with `centered` false the root-mean-square form.
struct RowNormalization {
  bool centered = true;
  double epsilon = 1e-5;
};

struct NormalizedRows {
  Tensor y, mean, inverse_deviation;  ///< in the compute type; the last two with one element for each row
};

/// Normalizes `x` over the axes from `axis` on, times `scale` plus `bias`, which broadcast to x; all float tensors.
NormalizedRows normalize_rows(const Call& call, const Tensor& x, int axis, const Tensor& scale,
                              const std::optional<Tensor>& bias, const RowNormalization& how);

}  // namespace mlopt::reference
