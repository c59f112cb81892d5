#include "backends/cpu/kernels.h"

#include "backends/cpu/rotary.h"
#include "backends/cpu/seeded_dropout.h"

namespace mlopt::cpu {
namespace {

struct Family {
  std::string_view name;  ///< by which its steps go that have no other
  std::span<const Kernel> (*kernels)();
};

constexpr Family kFamilies[] = {
    {"conv", conv_bf16_kernels},
    {"winograd", conv_winograd_kernels},
    {"depthwise", conv_depthwise_kernels},
    {"tiles", conv_first_kernels},
    {"tiles", conv_point_kernels},
    {"tiles", conv_line_kernels},
    {"conv", conv_kernels},
    {"conv transpose", conv_transpose_kernels},
    {"matmul", matmul_kernels},
    {"codes", block_matmul_kernels},
    {"eltwise", eltwise_kernels},
    {"power", power_kernels},
    {"angle", trigonometry_kernels},
    {"binary", binary_kernels},
    {"variadic", variadic_kernels},
    {"chain", chain_kernels},
    {"pool", pool_kernels},
    {"pool with indices", max_pool_indices_kernels},
    {"unpool", max_unpool_kernels},
    {"reduce", reduce_kernels},
    {"arg max", arg_max_kernels},
    {"cumulative sum", cumulative_sum_kernels},
    {"top k", top_k_kernels},
    {"softmax", softmax_kernels},
    {"layer norm", layer_norm_kernels},
    {"lp norm", lp_norm_kernels},
    {"normalization", normalization_kernels},
    {"local response", local_response_kernels},
    {"copy", reshape_kernels},
    {"transpose", transpose_kernels},
    {"concat", concat_kernels},
    {"resize", resize_kernels},
    {"grid sample", grid_sample_kernels},
    {"fourier", fourier_kernels},
    {"deformed conv", deform_conv_kernels},
    {"regions", roi_align_kernels},
    {"rnn", rnn_kernels},
    {"quantize", quantize_linear_kernels},
    {"byte conv", qconv_kernels},
    {"byte conv", conv_integer_kernels},
    {"byte product", qmatmul_kernels},
    {"byte eltwise", qpointwise_kernels},
    {"slice", slice_kernels},
    {"gather", gather_kernels},
    {"expand", expand_kernels},
    {"pad", pad_kernels},
    {"where", where_kernels},
    {"cast", cast_kernels},
    {"attention", attention_kernels},
    {"grouped attention", group_query_kernels},
    {"rotary", rotary_kernels},
    {"compare", compare_kernels},
    {"conv gradient", conv_grad_kernels},
    {"batch norm", batch_norm_train_kernels},
    {"eltwise gradient", unary_grad_kernels},
    {"softmax gradient", softmax_grad_kernels},
    {"layer norm gradient", layer_norm_grad_kernels},
    {"pool gradient", pool_grad_kernels},
    {"gather gradient", gather_grad_kernels},
    {"fake quantize", fake_quantize_kernels},
    {"dropout", seeded_dropout_kernels},
    {"elements", elements_kernels},
    {"tuples", tuples_kernels},
    {"non zero", non_zero_kernels},
    {"boxes", non_max_suppression_kernels},
    {"update", optimizer_kernels},
};

}  // namespace

std::vector<Kernel> all_kernels() {
  std::vector<Kernel> all;
  for (const Family& family : kFamilies)
    for (Kernel kernel : family.kernels()) {
      if (kernel.label.empty()) kernel.label = family.name;
      all.push_back(kernel);
    }
  return all;
}

}  // namespace mlopt::cpu
