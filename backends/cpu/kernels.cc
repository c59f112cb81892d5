#include "backends/cpu/kernels.h"

namespace mlopt::cpu {

std::vector<Kernel> all_kernels() {
  std::vector<Kernel> all;
  for (const auto family : {
           conv_winograd_kernels(), conv_depthwise_kernels(), conv_point_kernels(), conv_line_kernels(),
           conv_kernels(),          conv_transpose_kernels(), matmul_kernels(),     eltwise_kernels(),
           binary_kernels(),        pool_kernels(),           reduce_kernels(),     softmax_kernels(),
           layer_norm_kernels(),    normalization_kernels(),  reshape_kernels(),    transpose_kernels(),
           concat_kernels(),        resize_kernels(),         rnn_kernels(),        quantize_linear_kernels(),
           qconv_kernels(),         qmatmul_kernels(),        qpointwise_kernels(), slice_kernels(),
           gather_kernels(),        expand_kernels(),         pad_kernels(),        where_kernels(),
           cast_kernels(),          attention_kernels(),      compare_kernels(),
       })
    all.insert(all.end(), family.begin(), family.end());
  return all;
}

}  // namespace mlopt::cpu
