// QuantizeLinear(AveragePool(DequantizeLinear x)) -> QLinearAveragePool(x).
#include "core/rewrite/qdq/passes.h"
#include "core/rewrite/qdq/steps.h"

namespace mlopt::qdq {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node* pool = m.node("pool");
  const auto x = stored(pool->input(0), builder), y = stored_by(m.root, builder);
  if (!x || !y || !x->has_one_scale() || x->type != y->type)
    return Decline{"its input and output have no constant steps of one type of 8 bits"};
  const NodeView view = builder.view(*pool);
  for (const int64_t d : view.get_ints("dilations"))
    if (d != 1) return Decline{"its window has holes"};
  std::vector<Attr> attrs;
  for (const Attr& attr : pool->attrs)
    if (attr.name != "dilations") attrs.push_back(attr);
  return Replacement{other_op(m, *pool, builder, "QLinearAveragePool",
                              {x->numbers, x->scale, x->zero, y->scale, y->zero}, std::move(attrs))};
}

std::vector<Rule> rules() {
  Pattern pool =
      Pattern::op("AveragePool", {Pattern::op("DequantizeLinear", {Pattern::any("")}).open()}).as("pool").single_use();
  return {{Pattern::op("QuantizeLinear", {std::move(pool)}).open(), rewrite}};
}

}  // namespace

const Pass average_pool = {"qdq_average_pool", "AveragePool between DequantizeLinear and QuantizeLinear on integers",
                           rules};

}  // namespace mlopt::qdq
