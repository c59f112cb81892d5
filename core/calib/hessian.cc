#include "core/calib/hessian.h"

#include "core/base/parallel.h"

namespace mlopt {
namespace {

constexpr double kDamping = 0.01;

}  // namespace

double damping(const Observed& observed, int64_t group, int64_t columns) {
  double sum = 0;
  for (int64_t c = 0; c < columns; ++c)
    sum += observed.products[static_cast<size_t>(group)][static_cast<size_t>(c * columns + c)];
  return sum > 0 ? kDamping * sum / static_cast<double>(columns) : 1;
}

Dense damped_hessian(const Observed& observed, int64_t group, int64_t columns, std::span<const int64_t> order) {
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
