// op(Transpose(x)) -> Transpose(op(x)) where another Transpose then cancels it or two become one; likewise Squeeze,
// which an Unsqueeze cancels, and chains of both.
#include <algorithm>

#include "graphopt/passes.h"
#include "graphopt/passes/axis_order.h"
#include "graphopt/passes/moved_operators.h"
#include "graphopt/passes/reduction.h"

namespace mlopt::graphopt {
namespace {

/// Can v come to be of that order, as what stands behind it moves?
bool could_be(const Value& v, const AxisOrder& order, const Builder& builder, int depth) {
  if (depth == 0 || !v.producer || v.graph != &builder.graph || !one_reader(v)) return false;
  const auto deeper = [&](const Value& input) { return could_be(input, order, builder, depth - 1); };
  return moved(*v.producer, order, builder, deeper).has_value();
}

/// Does what made y of its source, moved further, come to operators with which it is fewer?
bool leads_to_fewer(const Value& y, const AxisOrder& order, const Builder& builder, int depth = 8) {
  const bool one = one_reader(y);
  for (const Use& use : y.uses) {
    const Node& user = *use.node;
    if (user.graph() != y.graph || user.outputs().size() != 1 || !user.output(0)) continue;
    AxisOrder next = order;
    const bool layout = next.apply(user, builder);
    // Where there are other readers too, what is moved stays for them.
    if (layout && next.cost() < AxisOrder::cost_of(user) + (one ? order.cost() : 0)) return true;
    if (depth == 0 || !one) continue;
    const auto there = [&](const Value& v) { return &v == &y || could_be(v, order, builder, depth - 1); };
    const auto beyond = layout ? std::nullopt : moved(user, order, builder, there);
    if (beyond && beyond->served > 1) return true;
    if ((layout || beyond) && leads_to_fewer(*user.output(0), next, builder, depth - 1)) return true;
  }
  return false;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node& node = *m.root;
  bool ordered = false, moves = false;
  for (Value* v : node.inputs()) {
    for (const auto& [source, order] : orders_of(v, builder)) {
      ordered = true;
      const auto made = moved(node, order, builder);
      if (!made) continue;
      moves = true;
      if (made->served < 2 && !leads_to_fewer(*node.output(0), order, builder)) continue;
      Value* y = made->make(builder, node);
      return Replacement{order.make(builder, y, node.output(0)->type)};
    }
  }
  if (!ordered) return Decline{};
  if (!moves) return Decline{"its inputs are not transposed in one way"};
  return Decline{"no Transpose would go when it were moved"};
}

/// A reduction of fewer elements before the Transpose, which is not needed where the axes left are in order.
Expected<Replacement> rewrite_reduction(const Match& m, Builder& builder) {
  const std::vector<Ordered> orders = orders_of(m.root->input(0), builder);
  if (orders.empty() || !orders.back().order.squeezed().empty()) return Decline{};
  const auto& [x, order] = orders.back();
  auto reduction = Reduction::of(builder.view(*m.root));
  if (!reduction) return reduction.error();
  if (reduction->axes.empty()) return Decline{"it reduces nothing"};
  std::vector<int64_t> left, axes;
  for (size_t i = 0; i < order.axes().size(); ++i)
    (std::binary_search(reduction->axes.begin(), reduction->axes.end(), static_cast<int64_t>(i)) ? axes : left)
        .push_back(order.axes()[i]);
  std::sort(axes.begin(), axes.end());
  const Type& type = m.root->output(0)->type;
  const Reduction before = {axes, reduction->keepdims, reduction->all_axes};
  if (reduction->keepdims) {
    Value* y = make_reduction(builder, m.root->op, x, before);
    y->type = Type::tensor(type.dtype, before.shape(*x->type.dims, true));
    return Replacement{order.make(builder, y, type)};
  }
  if (!std::is_sorted(left.begin(), left.end())) return Decline{"the axes that it leaves are in another order"};
  return Replacement{make_reduction(builder, m.root->op, x, before, type)};
}

std::vector<Rule> rules() {
  return {{Pattern::op(movable_operators(), {}).open(), rewrite},
          {Pattern::op("ReduceMean|ReduceSum|ReduceMax|ReduceMin|ReduceProd|ReduceL2", {}).open(), rewrite_reduction}};
}

}  // namespace

const Pass push_transposes = {"push_transposes", "move Transposes and Squeezes to where they cancel", rules};

}  // namespace mlopt::graphopt
