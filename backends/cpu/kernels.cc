#include "backends/cpu/kernels.h"

namespace mlopt::cpu {

std::vector<Kernel> all_kernels() {
  std::vector<Kernel> all;
  for (const auto family : {
           conv_kernels(),
           matmul_kernels(),
           eltwise_kernels(),
           binary_kernels(),
       })
    all.insert(all.end(), family.begin(), family.end());
  return all;
}

}  // namespace mlopt::cpu
