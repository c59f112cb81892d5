#include <algorithm>

#include "core/autodiff/rules.h"

namespace mlopt::autodiff {
namespace {

/// How the window of a convolution lies on its large side, the one that it slides over: the input of Conv, the output
/// of ConvTranspose. The small side has one element for each place of the window.
struct Window {
  Dims kernel, strides, dilations, pads;
  Dims rest;  ///< elements at the end that no window reaches, fewer than the stride
  int64_t group = 1;

  std::vector<Attr> attrs() const {
    return {{"kernel_shape", kernel, {}},
            {"strides", strides, {}},
            {"dilations", dilations, {}},
            {"pads", pads, {}},
            {"group", group, {}}};
  }
};

Dims spatial(GradArgs& a, const Value* value) {
  const Dims dims = a.dims(value);
  return {dims.begin() + 2, dims.end()};
}

/// The window with the pads that auto_pad and output_shape stand for.
Window window_of(GradArgs& a, const Value* large, const Value* small) {
  const Dims in = spatial(a, large), places = spatial(a, small);
  const size_t rank = in.size();
  Window w{spatial(a, a.in(1)),
           a.view.get_ints("strides", Dims(rank, 1)),
           a.view.get_ints("dilations", Dims(rank, 1)),
           a.view.get_ints("pads", Dims(2 * rank, 0)),
           Dims(rank),
           a.view.get_int("group", 1)};
  const std::string mode = a.view.get_string("auto_pad", "NOTSET");
  const bool computed = mode.starts_with("SAME") || a.view.has("output_shape");
  const Dims more = a.view.get_ints("output_padding", Dims(rank, 0));
  for (size_t i = 0; i < rank; ++i) {
    const int64_t reach = w.strides[i] * (places[i] - 1) + (w.kernel[i] - 1) * w.dilations[i] + 1;
    int64_t &begin = w.pads[i], &end = w.pads[rank + i];
    if (mode == "VALID") begin = end = 0;
    if (computed) {
      const int64_t total = std::max<int64_t>(0, reach + more[i] - in[i]);
      begin = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      end = total - begin;
    }
    w.rest[i] = in[i] + begin + end - reach;
    if (begin < 0 || end < 0) a.refuse("its pads are negative");
    if (w.rest[i] < 0 || w.rest[i] >= w.strides[i]) a.refuse("its output_padding is not below the stride");
  }
  return w;
}

Value* weight_gradient(GradArgs& a, const Window& w, Value* large, Value* small) {
  std::vector<Attr> attrs = w.attrs();
  attrs.push_back({"shape", a.dims(a.in(1)), {}});
  return a.own("ConvGradWeight", {large, small}, std::move(attrs), a.in(1));
}

/// `grad` of shape [N, M, ...] summed for each of the M filters.
Value* bias_gradient(GradArgs& a, Value* grad) {
  std::vector<int64_t> axes = {0};
  for (size_t i = 2; i < a.dims(grad).size(); ++i) axes.push_back(static_cast<int64_t>(i));
  return a.reshaped(a.sum(grad, axes), a.dims(a.in(2)));
}

std::vector<Value*> through_convolution(GradArgs& a, Value* grad) {
  const Window w = window_of(a, a.in(0), a.out());
  std::vector<Value*> grads(static_cast<size_t>(a.inputs()));
  if (a.needs(0)) {
    std::vector<Attr> attrs = w.attrs();
    attrs.push_back({"output_padding", w.rest, {}});
    grads[0] = a.op("ConvTranspose", {grad, a.in(1)}, std::move(attrs));
  }
  if (a.needs(1)) grads[1] = weight_gradient(a, w, a.in(0), grad);
  if (a.needs(2)) grads[2] = bias_gradient(a, grad);
  return grads;
}

std::vector<Value*> conv(GradArgs& a) { return through_convolution(a, a.grad()); }

/// Its transpose, so with both sides exchanged.
std::vector<Value*> conv_transpose(GradArgs& a) {
  const Window w = window_of(a, a.out(), a.in(0));
  std::vector<Value*> grads(static_cast<size_t>(a.inputs()));
  if (a.needs(0)) grads[0] = a.op("Conv", {a.grad(), a.in(1)}, w.attrs());
  if (a.needs(1)) grads[1] = weight_gradient(a, w, a.grad(), a.in(0));
  if (a.needs(2)) grads[2] = bias_gradient(a, a.grad());
  return grads;
}

/// The gradient before the activation of com.microsoft's fused convolution, from its output alone.
Value* before_activation(GradArgs& a) {
  const std::string act = a.view.get_string("activation", "");
  std::vector<float> parameters = a.view.get_floats("activation_params");
  if (act.empty()) return a.grad();
  if (act == "Clip" && parameters.size() == 2) {
    Value* above = a.op("Greater", {a.out(), a.number(parameters[0], a.out())});
    Value* below = a.op("Less", {a.out(), a.number(parameters[1], a.out())});
    return a.op("Where", {a.op("And", {above, below}), a.grad(), a.number(0, a.out())});
  }
  parameters.resize(1, 0.01f);
  if (act != "Relu" && act != "Sigmoid" && act != "Tanh" && (act != "LeakyRelu" || parameters[0] < 0))
    a.refuse("its activation is '" + act + "'");
  return a.own("UnaryGrad", {a.out(), a.grad()}, {{"of", act, {}}, {"alpha", parameters[0], {}}}, a.out());
}

/// Input 3 is added before the activation.
std::vector<Value*> fused_conv(GradArgs& a) {
  Value* grad = before_activation(a);
  std::vector<Value*> grads = through_convolution(a, grad);
  if (a.needs(3)) grads[3] = grad;
  return grads;
}

constexpr GradRule kRules[] = {
    {"Conv", conv},
    {"ConvTranspose", conv_transpose},
    {"FusedConv", fused_conv, "com.microsoft"},
};

}  // namespace

std::span<const GradRule> convolution_rules() { return kRules; }

}  // namespace mlopt::autodiff
