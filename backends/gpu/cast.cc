// Cast between the types that kernels know.
#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"

namespace mlopt::gpu {
namespace {

/// Between a float of 8 bits and a larger one: codes with the scale 1.
Expected<PlannedStep> plan_float8(const Site& site, DType made) {
  const TensorDesc& x = site.desc(0);
  TensorDesc out = x;
  out.dtype = made;
  const auto from = float8_of(x.dtype), to = float8_of(made);
  const auto wide = float_of(to ? x.dtype : made);
  if (!wide || !is_countable(x)) return Decline{"not between a float of 8 bits and one of 16 or 32"};
  if (to && site.view.get_int("saturate", 1) == 0) return Decline{"what is too large becomes NaN"};
  PlannedStep step{.out = {out}};
  const Codes codes{8, true, to ? to->exponent : from->exponent};
  step.run = [wide = *wide, codes, narrows = bool(to), count = x.size()](const Buffers& b) {
    if (narrows)
      launch(b, &Kernels::quantize,
             QuantizeArgs{wide, wide, codes, {}, count, b.in<void>(0), nullptr, nullptr, b.out<void>(0)});
    else
      launch(b, &Kernels::dequantize,
             DequantizeArgs{wide, wide, codes, {}, count, b.in<void>(0), nullptr, nullptr, b.out<void>(0)});
  };
  return step;
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  TensorDesc out = x;
  out.dtype = static_cast<DType>(site.view.get_int("to"));
  if (float8_of(x.dtype) || float8_of(out.dtype)) return plan_float8(site, out.dtype);
  const auto from = elem_of(x.dtype), to = elem_of(out.dtype);
  if (!from || !to) return from ? to.error() : from.error();
  if (!is_countable(x)) return Decline{"more elements than kernels count"};
  PlannedStep step{.out = {out}};
  if (x.dtype == out.dtype) {
    step.view_of = 0;
    return step;
  }
  step.run = [from = *from, to = *to, count = x.size()](const Buffers& b) {
    launch(b, &Kernels::cast, CastArgs{from, to, b.in<void>(0), b.out<void>(0), count});
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Cast", .plan = plan, .layout = LayoutRule::kFollows},
};

}  // namespace

std::span<const Kernel> cast_kernels() { return kKernels; }

}  // namespace mlopt::gpu
