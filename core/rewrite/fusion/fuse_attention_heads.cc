// Attention of the standard whose heads are split before and joined after -> the same of [batch, rows, heads * size],
// which splits and joins them by itself, takes a head of keys for several of queries, and keeps the past.
#include <algorithm>
#include <cmath>

#include "core/rewrite/fusion/attention_ending.h"
#include "core/rewrite/fusion/attention_parts.h"
#include "core/rewrite/fusion/attention_past.h"
#include "core/rewrite/fusion/passes.h"

namespace mlopt::fusion {
namespace {

/// Does the node nothing that standard_attention() does not write?
bool is_usual(const Node& node) {
  for (size_t i = 1; i < node.outputs().size(); ++i)
    if (node.outputs()[i]) return false;
  for (size_t i = 4; i < node.inputs().size(); ++i)
    if (node.inputs()[i]) return false;
  return !node.attr("softmax_precision") && node.input(0)->type.dims && node.input(0)->type.dims->size() == 4;
}

Expected<Site> site_of(const Node& node, const Abilities& able, const Builder& builder) {
  const NodeView view = builder.view(node);
  const auto q = heads_of(node.input(0), false, {false, false, false}, builder);
  auto k = heads_of(node.input(1), false, able, builder), v = heads_of(node.input(2), false, able, builder);
  if (!q || !k || !v) return Decline{"queries, keys or values are not split into heads"};
  // The operator itself takes a head for several.
  if (q->count % (k->count * k->repeats) == 0) k->repeats = q->count / k->count;
  if (q->count % (v->count * v->repeats) == 0) v->repeats = q->count / v->count;
  if (!fit(*q, *k, *v)) return Decline{"the heads do not fit one another"};
  const Type type = Type::tensor(node.output(0)->type.dtype, SymDims{q->batch, q->rows, q->count * v->size});
  Site site{*q, *k, *v};
  site.own = node.input(3);
  site.causal = view.get_int("is_causal", 0) != 0;
  const auto size = static_cast<double>(q->size);
  site.scale = view.get_float("scale", static_cast<float>(1 / std::sqrt(size))) * q->scale * k->scale;
  site.cap = std::max(0.0F, view.get_float("softcap", 0));
  site.type = type;
  return site;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const std::vector<const Node*> chain = layout_chain(m.root);
  const Value* y = chain.front()->input(0);
  const Node* node = y && y->single_use() ? y->producer : nullptr;
  if (!node || !node->is("Attention") || y->output_index != 0 || builder.opset() < 23) return Decline{};
  if (builder.target == Target::kTensorrt || builder.target == Target::kOpenvino)
    return Decline{"the target wants attention in four axes"};
  if (!is_usual(*node)) return Decline{"the attention gives, or takes, more than usual"};
  const bool causal = builder.view(*node).get_int("is_causal", 0) != 0;
  auto site = site_of(*node, {false, !causal && builder.target != Target::kKernels}, builder);
  if (site && site->k.past &&
      !(read_late(site->k, *m.root, builder.graph) && read_late(site->v, *m.root, builder.graph)))
    site = site_of(*node, {}, builder);
  if (!site) return site.error();
  const auto way = way_out(chain, site->q, site->v.size, builder);
  if (!way) return Decline{goes_on(*m.root) ? "" : "the heads are not joined"};
  auto written = standard_attention(*site, builder);
  if (!written) return written;
  return Replacement{way->make(builder, written->front(), m.root->output(0)->type)};
}

std::vector<Rule> rules() { return {{Pattern::op("Reshape|Transpose", {}).open(), rewrite}}; }

}  // namespace

const Pass fuse_attention_heads = {"fuse_attention_heads",
                                   "heads that are split and joined around Attention as its own", rules};

}  // namespace mlopt::fusion
