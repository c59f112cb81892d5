// com.microsoft's float operators that fusions write. An empty list where the shape is not known.
#include <algorithm>

#include "core/ir/infer_types.h"

namespace mlopt::infer_rules {
namespace {

/// [batch, rows, width] of the first input with another width.
Types with_width(const NodeView& view, const Dim& width) {
  const auto& x = dims_of(view, 0);
  if (!x || x->size() != 3) return one(dtype_of(view, 0), std::nullopt);
  return one(dtype_of(view, 0), SymDims{(*x)[0], (*x)[1], width});
}

/// The sum that is normalized is the last of four outputs; statistics are left alone.
Types skip_norm(const NodeView& view) {
  Types types{type_of(view, 0)};
  if (view.node().outputs().size() == 4) types = {type_of(view, 0), Type(), Type(), type_of(view, 0)};
  return types;
}

Types embeddings(const NodeView& view) {
  const auto &ids = dims_of(view, 0), &words = dims_of(view, 2);
  if (!ids || ids->size() != 2 || !words || words->size() != 2) return one(dtype_of(view, 2), std::nullopt);
  return one(dtype_of(view, 2), SymDims{(*ids)[0], (*ids)[1], (*words)[1]});
}

/// The same of tables in codes, whose numbers are of the type of their scales.
Types coded_embeddings(const NodeView& view) {
  constexpr int kScale = 8;  // of the words
  Types types = embeddings(view);
  if (!types.empty()) types[0].dtype = dtype_of(view, kScale);
  return types;
}

/// Of the projections side by side, the last is as wide as the output.
Types self_attention(const NodeView& view) {
  const auto& weights = dims_of(view, 1);
  const std::vector<int64_t> sizes = view.get_ints("qkv_hidden_sizes");
  if (sizes.size() == 3) return with_width(view, sizes[2]);
  const auto third = weights && weights->size() == 2 ? Dim::divide((*weights)[1], 3) : std::nullopt;
  return with_width(view, third ? *third : Dim());
}

/// What is put behind keys or values of the past, where these are given as [batch, heads, rows, size].
Type present(const NodeView& view, int past, int made) {
  const auto &before = dims_of(view, past), &now = dims_of(view, made);
  if (!before || before->size() != 4 || !now || now->size() != 3) return {};
  return Type::tensor(dtype_of(view, past),
                      SymDims{(*before)[0], (*before)[1], (*before)[2] + (*now)[1], before->back()});
}

Types multi_head_attention(const NodeView& view) {
  const auto& v = dims_of(view, 2);
  Types types = with_width(view, !v ? Dim() : v->size() == 4 ? (*v)[1] * (*v)[3] : v->back());
  if (!types.empty() && view.node().outputs().size() == 3 && view.node().inputs().size() > 7)
    types.insert(types.end(), {present(view, 6, 1), present(view, 7, 2)});
  return types;
}

/// Queries alone, or with the keys and values of fewer heads beside them.
Types group_query_attention(const NodeView& view) {
  if (view.node().input(1)) return {type_of(view, 0)};
  const int64_t heads = view.get_int("num_heads", 0), all = heads + 2 * view.get_int("kv_num_heads", 0);
  const auto& x = dims_of(view, 0);
  const auto size = x && !x->empty() && all > 0 ? Dim::divide(x->back(), all) : std::nullopt;
  return with_width(view, size ? *size * Dim(heads) : Dim());
}

Types same(const NodeView& view) { return {type_of(view, 0)}; }

/// The product of matrices whose last two axes may be exchanged; not where its leading axes move as well.
Types fused_matmul(const NodeView& view) {
  std::optional<SymDims> operands[] = {dims_of(view, 0), dims_of(view, 1)};
  if (view.get_int("transBatchA", 0) != 0 || view.get_int("transBatchB", 0) != 0)
    return one(dtype_of(view, 0), std::nullopt);
  for (const int i : {0, 1}) {
    auto& dims = operands[i];
    if (view.get_int(i == 0 ? "transA" : "transB", 0) == 0 || !dims || dims->size() < 2) continue;
    std::swap(dims->back(), (*dims)[dims->size() - 2]);
  }
  return one(dtype_of(view, 0), product_dims(operands[0], operands[1]));
}

constexpr std::pair<std::string_view, TypeOf> kRules[] = {{"Attention", self_attention},
                                                          {"BiasGelu", same},
                                                          {"EmbedLayerNormalization", embeddings},
                                                          {"FastGelu", same},
                                                          {"FusedConv", convolution},
                                                          {"FusedGemm", gemm},
                                                          {"FusedMatMul", fused_matmul},
                                                          {"Gelu", same},
                                                          {"GroupQueryAttention", group_query_attention},
                                                          {"MultiHeadAttention", multi_head_attention},
                                                          {"QEmbedLayerNormalization", coded_embeddings},
                                                          {"QuickGelu", same},
                                                          {"RotaryEmbedding", same},
                                                          {"SkipLayerNormalization", skip_norm},
                                                          {"SkipSimplifiedLayerNormalization", skip_norm}};

}  // namespace

std::optional<Types> contrib_types(const NodeView& view) {
  if (view.node().domain != "com.microsoft") return std::nullopt;
  const auto* const rule =
      std::find_if(std::begin(kRules), std::end(kRules), [&](const auto& r) { return r.first == view.node().op; });
  return rule == std::end(kRules) ? std::nullopt : std::optional(rule->second(view));
}

}  // namespace mlopt::infer_rules
