#include "core/autodiff/rules.h"

namespace mlopt::autodiff {
namespace {

void check_differentiable(GradArgs& a) {
  if (a.view.get_float("clip", 0) != 0) a.refuse("it clips");
  for (const std::string& name : a.view.get_strings("activations"))
    if (name != "Sigmoid" && name != "Tanh" && name != "Relu") a.refuse("its activation is '" + name + "'");
}

/// LSTM's gradient is mlopt's LSTMGrad of its inputs (0 to 7) and the gradients of its outputs (8 to 10), and so on:
/// one node that runs the layer again and gives the gradients of X, W, R, B, initial_h, initial_c and P.
std::vector<Value*> recurrent(GradArgs& a) {
  check_differentiable(a);
  const Node& node = a.view.node();
  std::vector<Value*> inputs = node.inputs();
  inputs.resize(8);
  for (size_t i = 0; i < 3; ++i) inputs.push_back(i < node.outputs().size() ? a.grad(static_cast<int>(i)) : nullptr);
  const Dims x = a.dims(a.in(0)), w = a.dims(a.in(1)), r = a.dims(a.in(2));
  const bool batch_first = a.view.get_int("layout", 0) != 0;
  const Dims state = batch_first ? Dims{x[0], w[0], r[2]} : Dims{w[0], x[1], r[2]};
  std::vector<Dims> dims = {x, w, r, {w[0], 2 * w[1]}, state};
  if (node.op == "LSTM") dims.insert(dims.end(), {state, {w[0], 3 * r[2]}});
  std::vector<Type> types;
  for (const Dims& d : dims) types.push_back(Type::tensor(a.in(0)->type.dtype, d));
  std::vector<Value*> grads = a.own(node.op + "Grad", std::move(inputs), node.attrs, types);
  grads.insert(grads.begin() + 4, nullptr);  // the sequences' lengths
  grads.resize(node.inputs().size());
  return grads;
}

constexpr GradRule kRules[] = {{"GRU", recurrent}, {"LSTM", recurrent}, {"RNN", recurrent}};

}  // namespace

std::span<const GradRule> recurrent_rules() { return kRules; }

}  // namespace mlopt::autodiff
