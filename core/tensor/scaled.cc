#include "core/tensor/scaled.h"

#include <vector>

#include "core/tensor/cast.h"

namespace mlopt {

Tensor scaled(const Tensor& numbers, double by) {
  std::vector<double> products = to_doubles(numbers);
  for (double& x : products) x *= by;
  return cast(Tensor::of<double>(numbers.dims(), products), numbers.dtype());
}

}  // namespace mlopt
