#include "core/calib/hessian.h"

#include <cfloat>
#include <cmath>

#include "core/base/parallel.h"

namespace mlopt {
namespace {

constexpr double kDamping = 0.01;

/// The mean diagonal; 0 where the products say nothing: those of tiny inputs are denormal, of huge ones infinite.
double mean_square(const Observed& observed, int64_t group, int64_t columns) {
  double sum = 0;
  for (int64_t c = 0; c < columns; ++c)
    sum += observed.products[static_cast<size_t>(group)][static_cast<size_t>(c * columns + c)];
  const double mean = sum / static_cast<double>(columns);
  return mean >= FLT_MIN && std::isfinite(mean) ? mean : 0;
}

}  // namespace

double damping(const Observed& observed, int64_t group, int64_t columns) {
  const double mean = mean_square(observed, group, columns);
  return mean > 0 ? kDamping * mean : 1;
}

Dense damped_hessian(const Observed& observed, int64_t group, int64_t columns, std::span<const int64_t> order) {
  if (mean_square(observed, group, columns) == 0) return Dense::Identity(columns, columns);
  const float* products = observed.products[static_cast<size_t>(group)].data();
  Dense hessian(columns, columns);
  parallel_for(columns, 64, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const float* row = products + (order.empty() ? r : order[static_cast<size_t>(r)]) * columns;
      for (int64_t c = 0; c < columns; ++c)
        hessian(r, c) = static_cast<double>(row[order.empty() ? c : order[static_cast<size_t>(c)]]);
    }
  });
  hessian.diagonal().array() += damping(observed, group, columns);
  return hessian;
}

}  // namespace mlopt
