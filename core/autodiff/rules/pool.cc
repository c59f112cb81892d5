#include "core/autodiff/rules.h"

namespace mlopt::autodiff {
namespace {

/// MaxPool's gradient is mlopt's MaxPoolGrad of its input with its attributes, and so on.
std::vector<Value*> pool(GradArgs& a) {
  if (!a.grad()) return {};
  const Node& node = a.view.node();
  return {a.own(node.op + "Grad", {a.in(0), a.grad()}, node.attrs, a.in(0))};
}

constexpr GradRule kRules[] = {{"AveragePool", pool}, {"LpPool", pool}, {"MaxPool", pool}};

}  // namespace

std::span<const GradRule> pool_rules() { return kRules; }

}  // namespace mlopt::autodiff
