#include <algorithm>
#include <cstdint>

#include "core/autodiff/rules.h"

namespace mlopt::autodiff {
namespace {

/// dx, dscale and dbias of a normalization that is one node with these attributes.
std::vector<Value*> fused(GradArgs& a, std::string_view op, std::vector<Value*> inputs, std::vector<Attr> attrs) {
  const Type x = Type::tensor(a.in(0)->type.dtype, a.dims(a.in(0)));
  const Type scale = Type::tensor(inputs[2]->type.dtype, a.dims(inputs[2]));
  return a.own(op, std::move(inputs), std::move(attrs), {x, scale, scale});
}

Attr epsilon(GradArgs& a) { return {"epsilon", a.view.get_float("epsilon", 1e-5f), {}}; }

/// Outputs behind the first, and before `end`, are statistics, which are not differentiated.
void no_statistics(GradArgs& a, size_t end = SIZE_MAX) {
  for (size_t i = 1; i < std::min(end, a.view.node().outputs().size()); ++i)
    if (a.grad(static_cast<int>(i))) a.refuse("the loss depends on its statistics");
}

/// `x` with one element for each channel, so that it broadcasts to the node's input [N, C, ...].
Value* by_channel(GradArgs& a, Value* x) {
  Dims dims(a.dims(a.in(0)).size() - 1, 1);
  dims[0] = element_count(a.dims(x));
  return a.reshaped(x, dims);
}

/// With fixed statistics: dx alone is a product with a factor for each channel.
std::vector<Value*> frozen_batch_normalization(GradArgs& a) {
  Value *scale = a.in(1), *mean = a.in(3), *variance = a.in(4);
  if (a.needs(1) || a.needs(2))
    return fused(a, "BatchNormGrad", {a.in(0), a.grad(), scale, mean, variance}, {epsilon(a)});
  Value* deviation = a.op("Sqrt", {a.op("Add", {variance, a.number(a.view.get_float("epsilon", 1e-5f), variance)})});
  Value* factor = a.converted(a.op("Div", {a.converted(scale, variance->type.dtype), deviation}), a.grad()->type.dtype);
  return {a.op("Mul", {a.grad(), by_channel(a, factor)})};
}

std::vector<Value*> batch_normalization(GradArgs& a) {
  no_statistics(a);
  const int64_t opset = a.view.opset();
  const bool training = opset >= 14 ? a.view.get_int("training_mode", 0) != 0 : a.view.node().outputs().size() > 1;
  if (opset < 9 && a.view.get_int("spatial", 1) == 0) a.refuse("spatial is 0");
  if (a.dims(a.in(0)).size() < 2) a.refuse("its input has no channels");
  if (!training) return frozen_batch_normalization(a);
  return fused(a, "BatchNormGrad", {a.in(0), a.grad(), a.in(1)}, {epsilon(a)});
}

std::vector<Value*> rows(GradArgs& a, bool centered) {
  no_statistics(a);
  const int64_t axis = a.axis(a.view.get_int("axis", -1));
  const Dims dims = a.dims(a.in(0)), row(dims.begin() + axis, dims.end());
  if (a.dims(a.in(1)).size() > row.size()) a.refuse("its scale differs from row to row");
  std::vector<Value*> grads = fused(a, "LayerNormGrad", {a.in(0), a.grad(), a.expanded(a.in(1), row)},
                                    {{"axis", axis, {}}, epsilon(a), {"centered", int64_t{centered}, {}}});
  grads.resize(static_cast<size_t>(a.inputs()));
  if (a.needs(2) && a.dims(a.in(2)).size() > row.size()) grads[2] = a.grad();  // the engine sums it
  return grads;
}

std::vector<Value*> layer_normalization(GradArgs& a) { return rows(a, true); }
std::vector<Value*> rms_normalization(GradArgs& a) { return rows(a, false); }

/// com.microsoft's normalization of the sum of two values, and of a bias, which is its fourth output.
std::vector<Value*> skip(GradArgs& a, bool centered) {
  constexpr int kSum = 3;
  const int beta = 3, bias = centered ? 4 : 3;
  if (!a.in(1) || !a.in(2)) a.refuse("an input is missing");
  no_statistics(a, kSum);
  Value* sum = a.op("Add", {a.in(0), a.in(1)});
  if (a.in(bias)) sum = a.op("Add", {sum, a.in(bias)});
  std::vector<Value*> grads(static_cast<size_t>(a.inputs()), nullptr);
  Value* dsum = a.view.node().output(kSum) ? a.grad(kSum) : nullptr;
  if (a.grad(0)) {
    const std::vector<Value*> made = fused(a, "LayerNormGrad", {sum, a.grad(0), a.in(2)},
                                           {{"axis", a.axis(-1), {}},
                                            {"epsilon", a.view.get_float("epsilon", 1e-12f), {}},
                                            {"centered", int64_t{centered}, {}}});
    dsum = dsum ? a.op("Add", {dsum, made[0]}) : made[0];
    grads[2] = made[1];
    if (centered && a.in(beta)) grads[beta] = made[2];
  }
  grads[0] = grads[1] = dsum;
  if (a.in(bias)) grads[static_cast<size_t>(bias)] = dsum;
  return grads;
}

std::vector<Value*> skip_layer_normalization(GradArgs& a) { return skip(a, true); }
std::vector<Value*> skip_rms_normalization(GradArgs& a) { return skip(a, false); }

std::vector<Value*> groups(GradArgs& a, int64_t count, Value* scale) {
  return fused(a, "GroupNormGrad", {a.in(0), a.grad(), scale}, {epsilon(a), {"num_groups", count, {}}});
}

std::vector<Value*> instance_normalization(GradArgs& a) { return groups(a, a.dims(a.in(0))[1], a.in(1)); }

/// Before opset 21 all channels of a group share a scale and a bias.
std::vector<Value*> group_normalization(GradArgs& a) {
  const int64_t count = a.view.get_int("num_groups"), channels = a.dims(a.in(0))[1];
  if (a.view.opset() >= 21) return groups(a, count, a.in(1));
  const Dims table = {count, channels / count};
  std::vector<Value*> grads = groups(a, count, a.flat(a.expanded(a.reshaped(a.in(1), {count, 1}), table)));
  for (size_t i = 1; i < 3; ++i) grads[i] = a.flat(a.sum(a.reshaped(grads[i], table), {1}));
  return grads;
}

/// The mean of `x` over windows of `size` channels, of which `before` lie before the channel itself.
Value* channel_mean(GradArgs& a, Value* x, int64_t size, int64_t before) {
  const Dims dims = a.dims(x);
  const int64_t inner = element_count(dims) / (dims[0] * dims[1]);
  const std::vector<int64_t> kernel = {size, 1}, pads = {before, 0, size - 1 - before, 0};
  Value* mean = a.op("AveragePool", {a.reshaped(x, {dims[0], 1, dims[1], inner})},
                     {{"kernel_shape", kernel, {}}, {"pads", pads, {}}, {"count_include_pad", int64_t{1}, {}}});
  return a.reshaped(mean, dims);
}

/// y = x s^-beta, s = bias + alpha * mean of x^2 over neighbouring channels: with t = dy s^-beta, dx is
/// t - 2 alpha beta x * (mean of t x / s over the channels to which this one is a neighbour).
std::vector<Value*> local_response_normalization(GradArgs& a) {
  const int64_t size = a.view.get_int("size");
  const double alpha = a.view.get_float("alpha", 1e-4f), beta = a.view.get_float("beta", 0.75f);
  Value* x = a.in(0);
  Value* mean = channel_mean(a, a.op("Mul", {x, x}), size, (size - 1) / 2);
  Value* s = a.op("Add", {a.scaled(mean, alpha), a.number(a.view.get_float("bias", 1.0f), x)});
  Value* t = a.op("Mul", {a.grad(), a.op("Pow", {s, a.number(-beta, x)})});
  Value* around = channel_mean(a, a.op("Div", {a.op("Mul", {t, x}), s}), size, size / 2);
  return {a.op("Sub", {t, a.scaled(a.op("Mul", {x, around}), 2 * alpha * beta)})};
}

/// y = x / |x|: (dy - (slope of the norm) * sum of dy y) / |x|, 0 where all of x is 0.
std::vector<Value*> lp_normalization(GradArgs& a) {
  const int64_t axis = a.axis(a.view.get_int("axis", -1));
  const bool first = a.view.get_int("p", 2) == 1;
  Value* size = first ? a.op("Abs", {a.in(0)}) : a.op("Mul", {a.in(0), a.in(0)});
  Value* norm = a.sum(size, {axis});
  if (!first) norm = a.op("Sqrt", {norm});
  Value* slope = first ? a.op("Sign", {a.in(0)}) : a.out();
  Value* along = a.op("Mul", {slope, a.sum(a.op("Mul", {a.grad(), a.out()}), {axis})});
  Value* none = a.op("Equal", {norm, a.number(0, norm)});
  Value* dx = a.op("Div", {a.op("Sub", {a.grad(), along}), a.op("Where", {none, a.number(1, norm), norm})});
  return {a.op("Where", {none, a.number(0, norm), dx})};
}

/// y = (x - mean) / deviation: (dy - mean of dy - y * mean of dy y) / deviation.
std::vector<Value*> mean_variance_normalization(GradArgs& a) {
  std::vector<int64_t> axes = a.view.get_ints("axes", {0, 2, 3});
  double count = 1;
  for (int64_t& axis : axes) {
    axis = a.axis(axis);
    count *= static_cast<double>(a.dims(a.in(0))[static_cast<size_t>(axis)]);
  }
  const auto mean = [&](Value* x) { return a.scaled(a.sum(x, axes), 1 / count); };
  Value* centered = a.op("Sub", {a.in(0), mean(a.in(0))});
  Value* deviation = a.op("Sqrt", {mean(a.op("Mul", {centered, centered}))});
  Value* along = a.op("Mul", {a.out(), mean(a.op("Mul", {a.grad(), a.out()}))});
  Value* dx = a.op("Sub", {a.op("Sub", {a.grad(), mean(a.grad())}), along});
  return {a.op("Div", {dx, a.op("Add", {deviation, a.number(1e-9, deviation)})})};
}

constexpr GradRule kRules[] = {
    {"BatchNormalization", batch_normalization},
    {"GroupNormalization", group_normalization},
    {"InstanceNormalization", instance_normalization},
    {"LRN", local_response_normalization},
    {"LayerNormalization", layer_normalization},
    {"LpNormalization", lp_normalization},
    {"MeanVarianceNormalization", mean_variance_normalization},
    {"RMSNormalization", rms_normalization},
    {"SimplifiedLayerNormalization", rms_normalization},
    {"SkipLayerNormalization", skip_layer_normalization, "com.microsoft"},
    {"SkipSimplifiedLayerNormalization", skip_rms_normalization, "com.microsoft"},
};

}  // namespace

std::span<const GradRule> normalization_rules() { return kRules; }

}  // namespace mlopt::autodiff
