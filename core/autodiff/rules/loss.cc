#include "core/autodiff/rules.h"

namespace mlopt::autodiff {
namespace {

/// NegativeLogLikelihoodLoss' gradient is mlopt's NegativeLogLikelihoodLossGrad of its input, the labels, the gradient
/// of the loss and the weights, with its attributes, and so on. Output 1 is the input's logarithmic softmax.
std::vector<Value*> loss(GradArgs& a) {
  const Node& node = a.view.node();
  Value* dx = nullptr;
  if (a.grad()) dx = a.own(node.op + "Grad", {a.in(0), a.in(1), a.grad(), a.in(2)}, node.attrs, a.in(0));
  if (node.outputs().size() < 2 || !a.grad(1)) return {dx};
  Value* through = a.own("LogSoftmaxGrad", {a.out(1), a.grad(1)}, {{"axis", int64_t{1}, {}}}, a.in(0));
  return {dx ? a.op("Add", {dx, through}) : through};
}

constexpr GradRule kRules[] = {{"NegativeLogLikelihoodLoss", loss}, {"SoftmaxCrossEntropyLoss", loss}};

}  // namespace

std::span<const GradRule> loss_rules() { return kRules; }

}  // namespace mlopt::autodiff
