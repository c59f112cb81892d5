#include "core/autodiff/rules.h"

namespace mlopt::autodiff {
namespace {

// Operators that the standard dropped after its first version.

std::vector<Value*> affine(GradArgs& a) { return {a.scaled(a.grad(), a.view.get_float("alpha", 1))}; }
std::vector<Value*> scale(GradArgs& a) { return {a.scaled(a.grad(), a.view.get_float("scale", 1))}; }

/// Back between its borders (left, top, right, bottom).
std::vector<Value*> crop(GradArgs& a) {
  const Dims x = a.dims(a.in(0)), y = a.dims(a.out());
  const std::vector<int64_t> border = a.view.get_ints("border");
  const int64_t left = border[0], top = border[1];
  return {a.padded(a.grad(), {0, 0, top, left, 0, 0, x[2] - top - y[2], x[3] - left - y[3]})};
}

constexpr GradRule kRules[] = {{"Affine", affine}, {"Crop", crop}, {"ImageScaler", scale}, {"Scale", scale}};

}  // namespace

std::span<const GradRule> legacy_rules() { return kRules; }

}  // namespace mlopt::autodiff
