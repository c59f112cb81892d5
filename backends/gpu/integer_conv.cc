// Convolutions of 8-bit codes: ConvInteger and QLinearConv.
#include "backends/gpu/integer.h"
#include "backends/gpu/kernels.h"
#include "backends/gpu/packed_codes.h"
#include "backends/gpu/windows.h"

namespace mlopt::gpu {
namespace {

struct IntegerConv {
  IntegerConvArgs args;
  Dims out;
};

/// Of inputs x and w, whose zero points are inputs xz and wz.
Expected<IntegerConv> conv_of(const Site& site, int x_at, int xz, int w_at, int wz) {
  const TensorDesc &x = site.desc(x_at), &w = site.desc(w_at);
  if (!is_byte(x.dtype) || !is_byte(w.dtype)) return Decline{"no 8-bit codes"};
  if (site.view.get_int("channels_last", 0) != 0) return Decline{"channels last"};
  if (x.dims.size() < 3 || x.dims.size() > 5 || w.dims.size() != x.dims.size())
    return Decline{"only 1 to 3 spatial axes"};
  const int64_t groups = site.view.get_int("group", 1), channels = w.dims[0];
  if (groups < 1 || channels % groups != 0 || x.dims[1] != w.dims[1] * groups)
    return Decline{"channels and groups do not fit"};
  const auto window = window_over(site.view, spatial_of(x.dims), spatial_of(w.dims));
  if (!window) return window.error();
  const auto places = positions(*window, spatial_of(x.dims));
  if (!places) return places.error();
  IntegerConv made{};
  made.out = {x.dims[0], channels};
  made.out.insert(made.out.end(), places->begin(), places->end());
  if (!is_countable(x) || !is_countable(w) || !is_countable({DType::kI32, made.out}))
    return Decline{"more elements than kernels count"};
  const auto fits = [&](int zero, DType type, int64_t many) {
    return !site.has(zero) ||
           (site.desc(zero).dtype == type && (site.desc(zero).size() == 1 || site.desc(zero).size() == many));
  };
  if (!fits(xz, x.dtype, 1) || !fits(wz, w.dtype, channels)) return Decline{"zero points that do not fit"};
  ConvArgs& conv = made.args.conv;
  conv.batch = static_cast<int>(x.dims[0]);
  conv.channels_in = static_cast<int>(x.dims[1]);
  conv.channels_out = static_cast<int>(channels);
  conv.groups = static_cast<int>(groups);
  conv.windows = windows_of(*window, x.dims, made.out);
  made.args.x = {x.dtype == DType::kI8, false, nullptr, nullptr};
  made.args.weights = {w.dtype == DType::kI8, site.has(wz) && site.desc(wz).size() > 1, nullptr, nullptr};
  return made;
}

SumsMaker sums_of(const Site& site, const IntegerConv& conv, int w, int wz) {
  if (auto packed = packed_conv(site, conv.args, w, wz)) return *std::move(packed);
  SumsMaker made;
  made.bytes = static_cast<size_t>(element_count(conv.out)) * sizeof(int32_t);
  made.run = [args = conv.args, w, wz = site.has(wz) ? wz : -1](const Buffers& b, const void* codes, const void* zero,
                                                                std::byte* scratch) -> CodeSums {
    IntegerConvArgs now = args;
    now.x.codes = codes;
    now.x.zero = zero;
    now.weights.codes = b.in<void>(w);
    now.weights.zero = wz >= 0 ? b.in<void>(wz) : nullptr;
    now.out = reinterpret_cast<int32_t*>(scratch);
    launch(b, &Kernels::integer_conv, now);
    return {.sums = now.out};
  };
  return made;
}

int64_t plane_of(const IntegerConv& conv) { return element_count(Dims(conv.out.begin() + 2, conv.out.end())); }

Expected<PlannedStep> plan_integer(const Site& site) {
  const auto conv = conv_of(site, 0, 2, 1, 3);
  if (!conv) return conv.error();
  const SumsMaker sums = sums_of(site, *conv, 1, 3);
  PlannedStep step = step_of({DType::kI32, conv->out}, sums);
  if (!sums.packed) step.scratch_bytes = 0;
  step.run = [sums, zero = site.has(2), channels = Divider(conv->out[1]), plane = Divider(plane_of(*conv)),
              count = step.out[0].size()](const Buffers& b) {
    std::byte* at = sums.packed ? b.scratch : b.out<std::byte>(0);
    const CodeSums made = sums.run(b, b.in<void>(0), zero ? b.in<void>(2) : nullptr, at);
    if (sums.packed) launch(b, &Kernels::plain_sums, PlainSumsArgs{made, channels, plane, count, b.out<int32_t>(0)});
  };
  return step;
}

/// (x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias).
Expected<PlannedStep> plan_qlinear(const Site& site) {
  const auto conv = conv_of(site, 0, 2, 3, 5);
  const auto scale = float_of(site.desc(1).dtype);
  if (!conv || !scale) return !conv ? conv.error() : scale.error();
  const int64_t channels = conv->out[1];
  const TensorDesc& zero = site.desc(7);
  if (!is_byte(zero.dtype) || zero.size() != 1) return Decline{"an output that is no 8-bit integer"};
  for (const int i : {1, 4, 6})
    if (site.desc(i).dtype != site.desc(1).dtype ||
        (site.desc(i).size() != 1 && (i != 4 || site.desc(i).size() != channels)))
      return Decline{"scales that do not fit"};
  if (site.has(8) && (site.desc(8).dtype != DType::kI32 || site.desc(8).size() != channels))
    return Decline{"a bias that does not fit"};
  const SumsMaker sums = sums_of(site, *conv, 3, 5);
  PlannedStep step = step_of({zero.dtype, conv->out}, sums);
  const RequantizeArgs how{*scale,
                           {8, zero.dtype == DType::kI8},
                           site.desc(4).size() > 1,
                           Divider(channels),
                           Divider(plane_of(*conv)),
                           step.out[0].size()};
  step.run = [sums, how, bias = site.has(8)](const Buffers& b) {
    RequantizeArgs then = how;
    then.sums = sums.run(b, b.in<void>(0), b.in<void>(2), b.scratch);
    then.bias = bias ? b.in<int32_t>(8) : nullptr;
    then.a_scale = b.in<void>(1), then.b_scale = b.in<void>(4), then.y_scale = b.in<void>(6), then.zero = b.in<void>(7);
    then.out = b.out<void>(0);
    launch(b, &Kernels::requantize, then);
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "ConvInteger", .plan = plan_integer},
    {.domain = "", .op = "QLinearConv", .plan = plan_qlinear},
    {.domain = "com.microsoft", .op = "QLinearConv", .plan = plan_qlinear},
};

}  // namespace

std::span<const Kernel> integer_conv_kernels() { return kKernels; }

}  // namespace mlopt::gpu
