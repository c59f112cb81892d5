#include "core/autodiff/rules.h"

namespace mlopt::autodiff {
namespace {

/// Opset 13 works along one axis; before, all axes from `axis` on were one.
std::vector<Value*> softmax(GradArgs& a) {
  const std::string op = a.view.node().op + "Grad";
  if (a.view.opset() >= 13) {
    const int64_t axis = a.axis(a.view.get_int("axis", -1));
    return {a.own(op, {a.out(), a.grad()}, {{"axis", axis, {}}}, a.in(0))};
  }
  const Dims dims = a.dims(a.in(0));
  const int64_t given = a.view.get_int("axis", 1), rank = static_cast<int64_t>(dims.size());
  const auto split = dims.begin() + (given == rank ? rank : a.axis(given));
  Value* y = a.reshaped(a.out(), {element_count({dims.begin(), split}), element_count({split, dims.end()})});
  Value* grad = a.reshaped(a.grad(), a.dims(y));
  return {a.reshaped(a.own(op, {y, grad}, {{"axis", int64_t{1}, {}}}, y), dims)};
}

constexpr GradRule kRules[] = {{"LogSoftmax", softmax}, {"Softmax", softmax}};

}  // namespace

std::span<const GradRule> softmax_rules() { return kRules; }

}  // namespace mlopt::autodiff
