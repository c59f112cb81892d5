#include "core/autodiff/rules.h"

namespace mlopt::autodiff {
namespace {

/// `inputs`: dy, and roi, scales and sizes as Resize of the newest opset has them.
std::vector<Value*> backward(GradArgs& a, std::vector<Value*> inputs, std::vector<Attr> attrs) {
  attrs.push_back({"shape", a.dims(a.in(0)), {}});
  return {a.own("ResizeGrad", std::move(inputs), std::move(attrs), a.in(0))};
}

/// Before opset 11 scales came alone and there was one way to find a position.
std::vector<Value*> by_scales(GradArgs& a, Value* scales) {
  return backward(a, {a.grad(), nullptr, scales},
                  {{"mode", a.view.get_string("mode", "nearest"), {}},
                   {"coordinate_transformation_mode", std::string("asymmetric"), {}},
                   {"nearest_mode", std::string(a.view.node().op == "Resize" ? "simple" : "floor"), {}}});
}

std::vector<Value*> resize(GradArgs& a) {
  if (a.view.opset() < 11) return by_scales(a, a.in(1));
  return backward(a, {a.grad(), a.in(1), a.in(2), a.in(3)}, a.view.node().attrs);
}

std::vector<Value*> upsample(GradArgs& a) {
  if (a.in(1)) return by_scales(a, a.in(1));
  std::vector<float> scales = a.view.get_floats("scales");
  if (scales.empty()) scales = {1, 1, a.view.get_float("height_scale", 1), a.view.get_float("width_scale", 1)};
  return by_scales(a, a.constant(Tensor::of(Dims{static_cast<int64_t>(scales.size())}, scales)));
}

constexpr GradRule kRules[] = {{"Resize", resize}, {"Upsample", upsample}};

}  // namespace

std::span<const GradRule> resize_rules() { return kRules; }

}  // namespace mlopt::autodiff
