#include "backends/reference/kernels.h"

namespace mlopt::reference {

std::vector<Kernel> all_kernels() {
  std::vector<Kernel> all;
  for (const auto family : {
           unary_kernels(),
           binary_kernels(),
           shape_kernels(),
       })
    all.insert(all.end(), family.begin(), family.end());
  return all;
}

}  // namespace mlopt::reference
