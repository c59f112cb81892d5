#include "backends/reference/kernels.h"

#include <initializer_list>

namespace mlopt::reference {

std::vector<Kernel> all_kernels() {
  std::vector<Kernel> all;
  // clang-format off
  const std::initializer_list<std::span<const Kernel>> families = {
      activation_kernels(),
      along_axis_kernels(),
      attention_kernels(),
      beam_search_kernels(),
      binary_kernels(),
      cast_kernels(),
      concat_split_kernels(),
      constant_kernels(),
      contrib_attention_kernels(),
      contrib_fused_kernels(),
      contrib_qlstm_kernels(),
      contrib_qmatmul_kernels(),
      contrib_quant_kernels(),
      contrib_weight_only_kernels(),
      control_flow_kernels(),
      conv_kernels(),
      conv_transpose_kernels(),
      crop_and_resize_kernels(),
      deform_conv_kernels(),
      einsum_kernels(),
      flex_attention_kernels(),
      gather_kernels(),
      gemm_op_kernels(),
      grid_sample_kernels(),
      group_query_attention_kernels(),
      gru_kernels(),
      image_kernels(),
      layer_normalization_kernels(),
      legacy_kernels(),
      linear_attention_kernels(),
      logic_kernels(),
      loss_kernels(),
      lstm_kernels(),
      matmul_kernels(),
      ml_encode_kernels(),
      ml_linear_kernels(),
      ml_map_kernels(),
      ml_svm_kernels(),
      ml_tree_ensemble_kernels(),
      multi_head_attention_kernels(),
      nms_kernels(),
      normalization_kernels(),
      pad_kernels(),
      pool_kernels(),
      qlinear_kernels(),
      quantize_kernels(),
      random_kernels(),
      reduce_kernels(),
      resize_kernels(),
      rnn_kernels(),
      roi_kernels(),
      rotary_kernels(),
      scan_kernels(),
      scatter_kernels(),
      sequence_kernels(),
      shape_kernels(),
      signal_kernels(),
      slice_kernels(),
      softmax_kernels(),
      sort_kernels(),
      strings_kernels(),
      tfidf_kernels(),
      training_kernels(),
      transpose_kernels(),
      unary_kernels(),
      unpool_kernels(),
      window_kernels(),
  };
  // clang-format on
  for (const auto family : families) all.insert(all.end(), family.begin(), family.end());
  return all;
}

}  // namespace mlopt::reference
