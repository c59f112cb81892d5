#include "backends/gpu/kernels.h"

#include <set>
#include <utility>

namespace mlopt::gpu {
namespace {

struct Family {
  std::string_view name;  ///< by which its steps go
  std::span<const Kernel> (*kernels)();
  bool Extras::*needs = nullptr;  ///< null: every device has it
};

constexpr Family kFamilies[] = {
    {"cusparselt", sparse_kernels, &Extras::sparse},
    {"cublas", matmul_kernels},
    {"cudnn", conv_library_kernels, &Extras::convolver},
    {"conv", conv_kernels},  // by products, or by kernels of our own
    {"conv", deform_conv_kernels},
    {"conv", col2im_kernels},
    {"eltwise", eltwise_kernels},
    {"arith", arith_kernels},
    {"chain", chain_kernels},
    {"copy", reshape_kernels},
    {"copy", copy_kernels},
    {"pad", pad_kernels},
    {"gather", gather_kernels},
    {"cast", cast_kernels},
    {"cast", narrow_cast_kernels},
    {"softmax", softmax_kernels},
    {"resize", resize_kernels},
    {"resize", grid_sample_kernels},
    {"norm", norm_kernels},
    {"reduce", reduce_kernels},
    {"pool", pool_kernels},
    {"pool", region_kernels},
    {"quantize", quantize_kernels},
    {"float8", float8_kernels},
    {"integer", integer_kernels},
    {"integer", integer_conv_kernels},
    {"codes", code_map_kernels},
    {"nbits", nbits_kernels},
    {"nbits", levels_kernels},
    {"scatter", scatter_kernels},
    {"top", top_kernels},
    {"counted", counted_kernels},
    {"counted", gram_kernels},
    {"along", along_kernels},
    {"fourier", fourier_kernels},
    {"attention", attention_kernels},
    {"attention", group_query_kernels},
    {"rotary", rotary_kernels},
    {"recurrent", lstm_kernels},
    {"recurrent", gru_kernels},
    {"recurrent", lstm_grad_kernels},
    {"recurrent", gru_grad_kernels},
    {"conv", conv_grad_kernels},
    {"norm", batch_norm_kernels},
    {"gradient", unary_grad_kernels},
    {"gradient", rows_grad_kernels},
    {"gradient", gather_grad_kernels},
    {"dropout", seeded_dropout_kernels},
    {"host", host_copy_kernels},
    {"fake quantize", fake_quantize_kernels},
    {"update", optimizer_kernels},
};

/// Outside of a plan there is no device memory.
Expected<Step> only_planned(const NodeView&, const CompileContext&) { return Decline{"runs in a plan only"}; }

}  // namespace

bool is_runnable(const Node& node) {
  static const auto names = [] {
    std::set<std::pair<std::string_view, std::string_view>> made;
    for (const Kernel& kernel : all_kernels()) made.emplace(kernel.domain, kernel.op);
    return made;
  }();
  return names.contains({node.domain, node.op});
}

std::vector<Kernel> all_kernels(const Extras& extras) {
  std::vector<Kernel> all;
  for (const Family& family : kFamilies) {
    if (family.needs && !(extras.*family.needs)) continue;
    for (Kernel kernel : family.kernels()) {
      kernel.label = family.name;
      kernel.compile = only_planned;
      all.push_back(kernel);
    }
  }
  return all;
}

}  // namespace mlopt::gpu
