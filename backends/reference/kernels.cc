#include "backends/reference/kernels.h"

#include <initializer_list>

namespace mlopt::reference {

std::vector<Kernel> all_kernels() {
  std::vector<Kernel> all;
  const std::initializer_list<std::span<const Kernel>> families = {
      matmul_kernels(),
      gemm_op_kernels(),
      conv_kernels(),
      conv_transpose_kernels(),
      pool_kernels(),
      rnn_kernels(),
      gru_kernels(),
      lstm_kernels(),
  };
  for (const auto family : families) all.insert(all.end(), family.begin(), family.end());
  return all;
}

}  // namespace mlopt::reference
