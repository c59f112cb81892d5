#include "core/autodiff/rules.h"

namespace mlopt::autodiff {
namespace {

/// Does it drop? An attribute before opset 7, never from 7 to 11, an input from 12 on.
bool is_training(GradArgs& a) {
  if (a.view.opset() < 7) return a.view.get_int("is_test", 0) == 0;
  if (a.view.opset() < 12 || !a.in(2)) return false;
  const auto training = a.view.number("", 2, 0);
  if (!training) a.refuse("whether it drops depends on data");
  return *training != 0;
}

/// What was kept was divided by the share that is kept.
std::vector<Value*> dropout(GradArgs& a) {
  const auto ratio = a.view.number("ratio", 1, 0.5);
  if (!is_training(a) || ratio == 0) return {a.grad()};
  if (!ratio) a.refuse("its ratio depends on data");
  Value* mask = a.converted(a.also_out(1), a.grad()->type.dtype);
  return {a.scaled(a.op("Mul", {a.grad(), mask}), 1 / (1 - *ratio))};
}

/// The same elements go through both ways.
std::vector<Value*> seeded_dropout(GradArgs& a) {
  return {a.own("SeededDropout", {a.grad(), a.in(1)}, a.view.node().attrs, a.in(0)), nullptr};
}

constexpr GradRule kRules[] = {{"Dropout", dropout}, {"SeededDropout", seeded_dropout, "mlopt"}};

}  // namespace

std::span<const GradRule> dropout_rules() { return kRules; }

}  // namespace mlopt::autodiff
