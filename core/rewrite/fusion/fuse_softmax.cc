// exp(x - max(x)) / sum(exp(x - max(x))) along one axis, and Softmax(x - max(x)) -> Softmax(x).
#include "core/rewrite/fusion/passes.h"

namespace mlopt::fusion {
namespace {

/// The one axis that the reduction keeps as a one, counted from the front. TensorFlow's exporter writes the maximum of
/// the last of three axes as a pool.
std::optional<int64_t> axis_of(const Node& reduction, const Builder& builder) {
  const NodeView view = builder.view(reduction);
  const auto& dims = reduction.input(0)->type.dims;
  if (reduction.is("GlobalMaxPool")) return dims && dims->size() == 3 ? std::optional(int64_t{2}) : std::nullopt;
  const auto axes = view.ints("axes", 1);
  if (!dims || !axes || axes->size() != 1 || view.get_int("keepdims", 1) == 0) return std::nullopt;
  const auto rank = static_cast<int64_t>(dims->size());
  return axes->front() < 0 ? axes->front() + rank : axes->front();
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node *power = m.node("power"), *sum = m.node("sum"), *most = m.node("most");
  Value* x = m.value("x");
  if (sum->input(0) != power->output(0)) return Decline{"another sum divides"};
  if (most->input(0) != x) return Decline{"another maximum is subtracted"};
  if (power->output(0)->uses.size() != 2 || power->output(0)->is_output())
    return Decline{"the powers are used elsewhere too"};
  const auto along = axis_of(*sum, builder), highest = axis_of(*most, builder);
  if (!along || along != highest || !is_float(x->type.dtype)) return Decline{"not along one axis"};
  const auto rank = static_cast<int64_t>(x->type.dims->size());
  if (builder.opset() < 13 && *along != rank - 1) return Decline{"Softmax takes all later axes too before opset 13"};
  return Replacement{builder.op("Softmax", {x}, {{"axis", *along, ""}}, x->type)};
}

/// Softmax subtracts the maximum itself.
Expected<Replacement> shifted(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  const Node& most = *m.node("most");
  if (most.input(0) != x) return Decline{"another maximum is subtracted"};
  const auto highest = axis_of(most, builder);
  if (!highest) return Decline{"not along one axis"};
  const auto rank = static_cast<int64_t>(x->type.dims->size());
  const int64_t given = builder.view(*m.root).get_int("axis", builder.opset() < 13 ? 1 : -1);
  const int64_t axis = given < 0 ? given + rank : given;
  if (axis != *highest || (builder.opset() < 13 && axis != rank - 1)) return Decline{"the maximum of another axis"};
  return Replacement{builder.op("Softmax", {x}, m.root->attrs, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  const auto difference = [] {
    Pattern most = Pattern::op("ReduceMax|GlobalMaxPool", {Pattern::any("m")}).open().as("most").single_use();
    return Pattern::op("Sub", {Pattern::any("x"), std::move(most)}).single_use();
  };
  Pattern power = Pattern::op("Exp", {difference()}).as("power");
  Pattern sum = Pattern::op("ReduceSum", {Pattern::any("p")}).open().as("sum").single_use();
  return {{Pattern::op("Div", {std::move(power), std::move(sum)}), rewrite},
          {Pattern::op("Softmax", {difference()}), shifted}};
}

}  // namespace

const Pass fuse_softmax = {
    "fuse_softmax", "the operators that softmax is written out as, as one, and a maximum that it subtracts itself",
    rules};

}  // namespace mlopt::fusion
