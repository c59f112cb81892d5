#include "core/calib/range.h"

namespace mlopt {

Range percentile_range(const Histogram& histogram, double percentile) {
  const double cut = (1 - percentile / 100) / 2;
  // Zero is always represented: a range on one side of it starts there, and its cut is all on the other side.
  if (histogram.min() >= 0) return {0, histogram.quantile(1 - 2 * cut)};
  if (histogram.max() <= 0) return {histogram.quantile(2 * cut), 0};
  return {histogram.quantile(cut), histogram.quantile(1 - cut)};
}

}  // namespace mlopt
