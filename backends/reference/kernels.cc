#include "backends/reference/kernels.h"

#include <initializer_list>

namespace mlopt::reference {

std::vector<Kernel> all_kernels() {
  std::vector<Kernel> all;
  const std::initializer_list<std::span<const Kernel>> families = {
      activation_kernels(), along_axis_kernels(), binary_kernels(),  cast_kernels(),
      logic_kernels(),      reduce_kernels(),     softmax_kernels(), unary_kernels(),
  };
  for (const auto family : families) all.insert(all.end(), family.begin(), family.end());
  return all;
}

}  // namespace mlopt::reference
