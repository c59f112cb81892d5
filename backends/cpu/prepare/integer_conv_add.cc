// QLinearAdd(QLinearConv(x, ...), r) of one shape -> mlopt.QLinearConvAdd: the inputs of QLinearConv, then r, its scale
// and zero point, and those of the sum.
#include "backends/cpu/prepare/prepare.h"
#include "core/rewrite/qdq/steps.h"
#include "core/tensor/cast.h"

namespace mlopt::cpu {
namespace {

bool same_number(const Value* a, const Value* b) {
  const Tensor *x = a ? a->known_constant() : nullptr, *y = b ? b->known_constant() : nullptr;
  return x && y && x->size() == 1 && y->size() == 1 && x->dtype() == y->dtype() && number_at(*x, 0) == number_at(*y, 0);
}

/// The convolution is operand `own` of the sum, whose operands have a scale and a zero point each.
Expected<Replacement> rewrite(const Match& m, Builder& builder, int own) {
  const Node *conv = m.node("conv"), *add = m.root;
  const int rest = 3 - own;
  Value* other = add->input(rest);
  if (!same_number(conv->input(6), add->input(own + 1)) || !same_number(conv->input(7), add->input(own + 2)))
    return Decline{"the sum takes the convolution's steps for others"};
  const auto &sum = conv->output(0)->type.dims, &added = other->type.dims;
  if (!sum || !added || *sum != *added) return Decline{"the other operand may have another shape"};
  if (other->constant) return Decline{"the other operand is constant"};
  for (const int i : {rest + 1, rest + 2, 6, 7})
    if (!add->input(i) || !add->input(i)->known_constant()) return Decline{"scales or zero points are not constant"};
  std::vector<Value*> inputs = conv->inputs();
  inputs.resize(9, nullptr);
  for (const int i : {rest, rest + 1, rest + 2, 6, 7}) inputs.push_back(add->input(i));
  return Replacement{qdq::other_op(m, *conv, builder, "QLinearConvAdd", std::move(inputs), conv->attrs, "mlopt")};
}

std::vector<Rule> rules() {
  const auto conv = [] { return Pattern::op("QLinearConv", {Pattern::any("x")}).open().as("conv").single_use(); };
  const auto add = [](std::vector<Pattern> inputs) {
    return Pattern::op("QLinearAdd", std::move(inputs)).open().domain("com.microsoft");
  };
  return {{add({conv()}), [](const Match& m, Builder& b) { return rewrite(m, b, 0); }},
          {add({Pattern::any("a"), Pattern::any("as"), Pattern::any("az"), conv()}),
           [](const Match& m, Builder& b) { return rewrite(m, b, 3); }}};
}

}  // namespace

const Pass integer_conv_add = {"integer_conv_add",
                               "a sum with integers of the same shape as part of the convolution before it", rules};

}  // namespace mlopt::cpu
