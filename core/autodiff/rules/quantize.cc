// Quantization that stays in floats, y = clamp(round(x / step), low, high) * step, trained with its steps. The rounding
// passes the gradient straight through (Bengio et al. 2013); what is clamped passes none. With `odd` the codes are odd,
// so that -1 and 1 are what binary weights have, and pass up to one step beyond them, which is as far as they are
// nearest, as much as towards zero: at the mean magnitude, where their step begins, half of all weights lie behind it.
// The steps learn as in LSQ
// (Esser et al. 2020): d y / d step = round(x / step) - x / step, or the limit where it is clamped, times
// 1 / sqrt(numbers that share the step * high). They are kept as logarithms, which keeps them positive and lets an
// optimizer that normalizes gradients move them by a share of themselves; the gradient is that of LSQ over the step, so
// that plain descent makes LSQ's updates.
#include <algorithm>
#include <cmath>

#include "core/autodiff/rules.h"

namespace mlopt::autodiff {
namespace {

std::vector<Value*> fake_quantize(GradArgs& a) {
  const Dims dims = a.dims(a.in(0));
  const auto all = static_cast<double>(element_count(dims));
  // A weight's numbers, or those of an activation for one sample.
  const bool weight = a.in(0)->constant.has_value();
  const double steps = static_cast<double>(element_count(a.dims(a.in(1))));
  const double sharing = weight || dims.empty() ? all / steps : all / static_cast<double>(dims[0]);
  const auto high = static_cast<double>(a.view.get_int("high", 1));
  std::vector<Attr> attrs = a.view.node().attrs;
  attrs.push_back({"share", static_cast<float>(1 / std::sqrt(std::max(1.0, sharing * high))), {}});
  return a.own("FakeQuantizeGrad", {a.in(0), a.in(1), a.grad()}, std::move(attrs), {a.in(0)->type, a.in(1)->type});
}

constexpr GradRule kRules[] = {{"FakeQuantize", fake_quantize, "mlopt"}};

}  // namespace

std::span<const GradRule> quantize_rules() { return kRules; }

}  // namespace mlopt::autodiff
