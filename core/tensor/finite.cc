#include "core/tensor/finite.h"

#include <algorithm>
#include <cmath>

#include "core/tensor/cast.h"

namespace mlopt {

bool is_finite(const Tensor& t) {
  if (!is_float(t.dtype())) return true;
  const std::vector<float> numbers = to_floats(t);
  return std::all_of(numbers.begin(), numbers.end(), [](float x) { return std::isfinite(x); });
}

}  // namespace mlopt
