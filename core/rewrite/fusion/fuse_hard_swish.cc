// clip(x + 3, 0, 6) / 6 and clip(x, 0, 6) / 6 -> HardSigmoid(x), and x HardSigmoid(x) -> HardSwish(x), however they are
// spelt.
#include <cmath>

#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/numbers.h"

namespace mlopt::fusion {
namespace {

constexpr double kSlope = 1.0 / 6, kOffset = 0.5;

/// Why HardSwish of x cannot be written; nothing where it can.
const char* no_swish(const Value& x, const Builder& builder) {
  if (builder.target == Target::kKernels && x.type.dtype != DType::kF32) return "it is not float32";
  if (!is_float(x.type.dtype)) return "its type is not known";
  return builder.has(14, x.type.dtype, 22) ? nullptr : "HardSwish needs opset 14, of bfloat16 22";
}

/// "sixth" is 6 for a quotient and 1/6 for a product; the match's clip is between 0 and 6 of x + 3, or of x.
bool is_ramp(const Match& m, const Builder& builder) {
  const NodeView clip = builder.view(*m.node("clip"));
  const auto low = clip.number("min", 1, -1), high = clip.number("max", 2, -1);
  const size_t axes = axes_of(*m.value("inner"));
  return low == 0.0 && high == 6.0 && (!m.has("three") || is_number(m.value("three"), 3, axes)) &&
         is_number(m.value("sixth"), m.node("sixths")->is("Div") ? 6 : kSlope, axes);
}

Expected<Replacement> ramp(const Match& m, Builder& builder) {
  Value* x = m.value("inner");
  const bool runs = builder.target != Target::kKernels || x->type.dtype == DType::kF32;
  if (!is_float(x->type.dtype) || !builder.has(6, x->type.dtype, 22)) return Decline{"HardSigmoid has not its type"};
  if (!runs || !is_ramp(m, builder)) return Decline{"other numbers than a hard sigmoid's"};
  // Without the 3 in sight: that is in the bias of a convolution before it.
  const double offset = m.has("three") ? kOffset : 0;
  std::vector<Attr> attrs{{"alpha", static_cast<float>(kSlope), ""}, {"beta", static_cast<float>(offset), ""}};
  return Replacement{builder.op("HardSigmoid", {x}, std::move(attrs), x->type)};
}

Expected<Replacement> spelt_out(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  if (m.value("inner") != x) return Decline{"two values are multiplied"};
  if (!is_ramp(m, builder)) return Decline{"other numbers than a hard swish's"};
  if (const char* why = no_swish(*x, builder)) return Decline{why};
  return Replacement{builder.op("HardSwish", {x}, {}, x->type)};
}

Expected<Replacement> gated(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  const NodeView gate = builder.view(*m.node("gate"));
  const double slope = gate.get_float("alpha", 0.2f), offset = gate.get_float("beta", 0.5f);
  if (m.value("inner") != x) return Decline{"two values are multiplied"};
  if (!(std::abs(slope - kSlope) <= 1e-6) || offset != kOffset) return Decline{"another slope than a hard swish's"};
  if (const char* why = no_swish(*x, builder)) return Decline{why};
  return Replacement{builder.op("HardSwish", {x}, {}, x->type)};
}

std::vector<Rule> rules() {
  const auto clip = [](Pattern of) { return Pattern::op("Clip", {std::move(of)}).open().as("clip").single_use(); };
  const auto shifted = [] {
    return Pattern::op("Add", {Pattern::any("inner"), Pattern::constant("three")}).any_order().single_use();
  };
  Pattern product = Pattern::op("Mul", {Pattern::any("x"), clip(shifted())}).any_order().single_use();
  Pattern gate = Pattern::op("HardSigmoid", {Pattern::any("inner")}).as("gate").single_use();
  return {{Pattern::op("Div|Mul", {std::move(product), Pattern::constant("sixth")}).as("sixths"), spelt_out},
          {Pattern::op("Div|Mul", {clip(shifted()), Pattern::constant("sixth")}).as("sixths"), ramp},
          {Pattern::op("Div|Mul", {clip(Pattern::any("inner")), Pattern::constant("sixth")}).as("sixths"), ramp},
          {Pattern::op("Mul", {Pattern::any("x"), std::move(gate)}).any_order(), gated}};
}

}  // namespace

const Pass fuse_hard_swish = {"fuse_hard_swish", "the operators that hard sigmoids and swishes are exported as, as one",
                              rules};

}  // namespace mlopt::fusion
