#include "core/autodiff/rules.h"

namespace mlopt::autodiff {
namespace {

/// A reduction of input 0: over which axes, and its output and gradient with these kept as 1.
struct Reduction {
  std::vector<int64_t> axes;
  Value *out, *grad;
};

Reduction reduction(GradArgs& a) {
  Dims kept = a.dims(a.in(0));
  std::vector<int64_t> axes = a.ints("axes", 1);
  const bool nothing = axes.empty() && a.view.get_int("noop_with_empty_axes", 0) != 0;
  if (axes.empty() && !nothing)
    for (size_t i = 0; i < kept.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  for (int64_t& axis : axes) {
    axis = a.axis(axis);
    kept[static_cast<size_t>(axis)] = 1;
  }
  return {axes, a.reshaped(a.out(), kept), a.reshaped(a.grad(), kept)};
}

std::vector<Value*> sum(GradArgs& a) { return {a.expanded(reduction(a).grad, a.dims(a.in(0)))}; }

std::vector<Value*> mean(GradArgs& a) {
  const Reduction r = reduction(a);
  const double share =
      static_cast<double>(element_count(a.dims(r.grad))) / static_cast<double>(element_count(a.dims(a.in(0))));
  return {a.expanded(a.scaled(r.grad, share), a.dims(a.in(0)))};
}

/// Elements that reach the extreme share the gradient.
std::vector<Value*> extreme(GradArgs& a) {
  const Reduction r = reduction(a);
  Value* reached = a.converted(a.op("Equal", {a.in(0), r.out}), r.out->type.dtype);
  return {a.op("Mul", {reached, a.op("Div", {r.grad, a.sum(reached, r.axes)})})};
}

std::vector<Value*> l1(GradArgs& a) { return {a.op("Mul", {a.op("Sign", {a.in(0)}), reduction(a).grad})}; }

/// x / |x|, 0 where all of x is 0.
std::vector<Value*> l2(GradArgs& a) {
  const Reduction r = reduction(a);
  Value* none = a.op("Equal", {r.out, a.number(0, r.out)});
  Value* norm = a.op("Where", {none, a.number(1, r.out), r.out});
  return {a.op("Mul", {a.in(0), a.op("Div", {r.grad, norm})})};
}

std::vector<Value*> log_sum(GradArgs& a) {
  const Reduction r = reduction(a);
  return {a.expanded(a.op("Div", {r.grad, a.op("Exp", {r.out})}), a.dims(a.in(0)))};
}

std::vector<Value*> log_sum_exp(GradArgs& a) {
  const Reduction r = reduction(a);
  return {a.op("Mul", {a.op("Exp", {a.op("Sub", {a.in(0), r.out})}), r.grad})};
}

/// The product of the others: that of all that is not 0, over x where it is one of these, unless another is 0.
std::vector<Value*> prod(GradArgs& a) {
  const Reduction r = reduction(a);
  Value *x = a.in(0), *zero = a.op("Equal", {x, a.number(0, x)}), *zeros = a.converted(zero, x->type.dtype);
  std::vector<Value*> inputs = a.view.node().inputs();
  inputs[0] = a.op("Where", {zero, a.number(1, x), x});
  Value* product = a.reshaped(a.again(inputs), a.dims(r.grad));
  Value* others = a.op("Div", {a.op("Mul", {r.grad, product}), inputs[0]});
  return {a.op("Where", {a.op("Equal", {a.sum(zeros, r.axes), zeros}), others, a.number(0, x)})};
}

std::vector<Value*> sum_square(GradArgs& a) { return {a.op("Mul", {a.in(0), a.scaled(reduction(a).grad, 2)})}; }

/// Back from the other end.
std::vector<Value*> cum_sum(GradArgs& a) {
  const bool reverse = a.view.get_int("reverse", 0) != 0;
  return {a.op("CumSum", {a.grad(), a.in(1)},
               {{"exclusive", a.view.get_int("exclusive", 0), {}}, {"reverse", int64_t{!reverse}, {}}})};
}

/// The whole of each channel.
std::vector<Value*> global_mean(GradArgs& a) {
  const Dims x = a.dims(a.in(0));
  const double count = static_cast<double>(element_count(x)) / static_cast<double>(x[0] * x[1]);
  return {a.expanded(a.scaled(a.grad(), 1 / count), x)};
}

std::vector<Value*> global_max(GradArgs& a) {
  std::vector<int64_t> axes;
  for (size_t i = 2; i < a.dims(a.in(0)).size(); ++i) axes.push_back(static_cast<int64_t>(i));
  Value* reached = a.converted(a.op("Equal", {a.in(0), a.out()}), a.out()->type.dtype);
  return {a.op("Mul", {reached, a.op("Div", {a.grad(), a.sum(reached, axes)})})};
}

constexpr GradRule kRules[] = {
    {"CumSum", cum_sum},
    {"GlobalAveragePool", global_mean},
    {"GlobalMaxPool", global_max},
    {"ReduceL1", l1},
    {"ReduceL2", l2},
    {"ReduceLogSum", log_sum},
    {"ReduceLogSumExp", log_sum_exp},
    {"ReduceMax", extreme},
    {"ReduceMean", mean},
    {"ReduceMin", extreme},
    {"ReduceProd", prod},
    {"ReduceSum", sum},
    {"ReduceSumSquare", sum_square},
};

}  // namespace

std::span<const GradRule> reduce_rules() { return kRules; }

}  // namespace mlopt::autodiff
