#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "core/tensor/tensor.h"

namespace mlopt::reference {

/// How one axis is resampled: each output position is the sum of weighted input positions.
struct AxisFilter {
  struct Tap {
    int64_t place;
    double weight;
  };
  std::vector<std::vector<Tap>> taps;  ///< of each output position; empty: `outside`
  double outside = 0;
};

/// The interpolating kernels: 1 - |x| on (-1, 1), and Keys' cubic with parameter `a` on (-2, 2) (Keys 1981).
double linear_kernel(double x);
double cubic_kernel(double x, double a);

/// Where and how a filter is sampled.
struct FilterShape {
  std::function<double(double)> kernel;
  double radius = 1;             ///< the kernel is 0 at and beyond this distance
  double stretch = 1;            ///< in (0, 1]: below 1 the kernel is widened by 1 / stretch, against aliasing
  bool exclude_outside = false;  ///< positions outside the axis count nothing, instead of repeating the edge
};
/// The taps for the source coordinate `x` on an axis of `length` positions.
std::vector<AxisFilter::Tap> taps_at(const FilterShape& shape, double x, int64_t length);

/// `data` (float32 or float64) with `axis` resampled; sums are kept in double.
Tensor resampled(const Tensor& data, int axis, const AxisFilter& filter);

}  // namespace mlopt::reference
