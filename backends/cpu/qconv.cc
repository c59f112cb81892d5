// QLinearConv: one of oneDNN's primitives where the processor adds up products of bytes, tiles of our own elsewhere.
#include <fmt/core.h>

#include <utility>

#include "backends/cpu/byte_conv.h"
#include "backends/cpu/conv_shape.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/packed.h"
#include "backends/cpu/primitive.h"
#include "backends/cpu/quantized.h"
#include "core/base/parallel.h"
#include "core/exec/weight_cache.h"
#include "core/tensor/cast.h"

namespace mlopt::cpu {
namespace {

enum Input {
  kSource,
  kSourceScale,
  kSourceZero,
  kWeights,
  kWeightScale,
  kWeightZero,
  kScale,
  kZero,
  kBias,
  kOther,
  kOtherScale,
  kOtherZero,
  kSumScale,
  kSumZero
};

/// What is added to the result, and the steps of the sum.
struct Sum {
  Steps other, total;
};

/// What the constants say.
struct Parameters {
  ByteWeights weights;
  std::vector<float> factors;  ///< source scale x weight scale, for each channel out
  std::vector<float> bias;     ///< in units of the factors; empty: none
  float scale;                 ///< of the output
  int32_t source_zero, zero;
  DType source_type, type;
  std::optional<Sum> sum = {};
};

/// A scale or zero point for the whole tensor.
template <class T>
std::optional<T> single(const std::vector<T>& values) {
  return values.size() == 1 ? std::optional(values[0]) : std::nullopt;
}

std::optional<Steps> constant_steps(const NodeView& view, int i) {
  const auto scale = constant_scales(view, i);
  const Tensor* zero = view.constant(i + 1);
  if (!scale || !zero || scale->size() != 1 || zero->size() != 1) return std::nullopt;
  return Steps{(*scale)[0], zeros_in(zero)[0]};
}

/// The sum that mlopt.QLinearConvAdd goes on with.
Expected<std::optional<Sum>> sum_of(const Site& site, DType type, const Dims& dims) {
  if (site.view.node().op != "QLinearConvAdd") return std::optional<Sum>();
  const auto other = constant_steps(site.view, kOtherScale), total = constant_steps(site.view, kSumScale);
  if (!other || !total) return Decline{"scales or zero points are not constant"};
  for (const int i : {kOther, kOtherZero, kSumZero})
    if (site.desc(i).dtype != type) return Decline{"the sum is of another type"};
  if (site.desc(kOther).dims != dims) return Decline{"the addend does not fit"};
  return std::optional(Sum{*other, *total});
}

Expected<Parameters> parameters_of(const Site& site) {
  const NodeView& view = site.view;
  const Tensor *w = site.constant(kWeights), *wz = view.constant(kWeightZero), *bias = view.constant(kBias);
  const Tensor *xz = view.constant(kSourceZero), *yz = view.constant(kZero);
  const auto xs = constant_scales(view, kSourceScale), ws = constant_scales(view, kWeightScale),
             ys = constant_scales(view, kScale);
  if (!w || !wz || !xz || !yz || !xs || !ws || !ys) return Decline{"weights, scales or zero points are not constant"};
  if (!is_bytes(w->dtype()) || wz->dtype() != w->dtype() || w->rank() < 3 || !is_bytes(xz->dtype()) ||
      !is_bytes(yz->dtype()) || site.desc(kSource).dtype != xz->dtype())
    return Decline{"not 8 bits"};
  const auto source_zero = single(zeros_in(xz)), zero = single(zeros_in(yz));
  if (!source_zero || !zero || xs->size() != 1 || ys->size() != 1) return Decline{"activations are scaled by channel"};
  const int64_t channels = w->dim(0);
  const auto fits = [channels](size_t n) { return n == 1 || n == static_cast<size_t>(channels); };
  Parameters p{byte_weights(*w, zeros_in(wz)), {}, {}, (*ys)[0], *source_zero, *zero, xz->dtype(), yz->dtype()};
  if (!fits(ws->size()) || !fits(p.weights.zeros.size())) return Decline{"weight scales do not fit the channels"};
  for (int64_t c = 0; c < channels; ++c) p.factors.push_back((*xs)[0] * at(*ws, c));
  if (!site.has(kBias)) return p;
  if (!bias || bias->dtype() != DType::kI32 || bias->dims() != Dims{channels})
    return Decline{"the bias is not constant"};
  p.bias = to_floats(*bias);
  return p;
}

std::vector<int> constant_inputs(const Site& site) {
  std::vector<int> all;
  for (int i = 1; i < static_cast<int>(site.in.size()); ++i)
    if (i != kOther) all.push_back(i);
  return all;
}

/// The sum, in a pass of its own over the result of the convolution.
void add_other(const Parameters& p, int64_t count, const Buffers& b) {
  if (!p.sum) return;
  constexpr int64_t kGrain = 32768;  // elements below which a second thread costs more than it brings
  const bool is_signed = p.type == DType::kI8;
  const Steps own{p.scale, p.zero};
  auto* y = b.out<std::byte>(0);
  const auto* other = b.in<std::byte>(kOther);
  parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
    combine(false, {{y + begin, is_signed}, own}, {{other + begin, is_signed}, p.sum->other}, p.sum->total,
            {y + begin, is_signed}, end - begin);
  });
}

// ---- One primitive, where the processor adds up products of bytes in 32 bits

dnnl::primitive_attr attr_of(const Parameters& p, int64_t groups) {
  dnnl::primitive_attr attr = new_attr();
  attr.set_scales_mask(DNNL_ARG_WEIGHTS, groups == 1 ? 1 : 3);
  attr.set_scales_mask(DNNL_ARG_DST, 0);
  if (p.source_zero != 0) attr.set_zero_points_mask(DNNL_ARG_SRC, 0);
  if (p.zero != 0) attr.set_zero_points_mask(DNNL_ARG_DST, 0);
  return attr;
}

/// Scales and zero points that every execution of the primitive is given.
void add_constants(const Parameters& p, std::vector<Primitive::Argument>& args) {
  const auto add = [&](int id, const Memory& memory) { args.push_back({id, memory.get_desc(), Source::of(memory)}); };
  std::vector<float> real = p.bias;  // the primitive adds it after scaling
  for (size_t c = 0; c < real.size(); ++c) real[c] *= p.factors[c];
  add(DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, memory_of(p.factors));
  add(DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, memory_of(std::vector{p.scale}));
  if (p.source_zero != 0) add(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, memory_of(p.source_zero));
  if (p.zero != 0) add(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_DST, memory_of(p.zero));
  if (!real.empty()) add(DNNL_ARG_BIAS, memory_of(real));
}

/// A primitive in the layouts that are at hand, else one whose channels come last: empty where there is none.
ConvPd choose(const Parameters& p, const ConvShape& shape, mlopt::Layout& from, mlopt::Layout& to) {
  const Desc bias = p.bias.empty() ? Desc() : plain(Elem::f32, {shape.channels_out()});
  const auto describe = [&] {
    ConvPd pd = describe_conv(shape, desc_of({p.source_type, shape.src, from}), Elem::s8, bias,
                              desc_of({p.type, shape.dst, to}), attr_of(p, shape.groups));
    return is_slow(pd) ? ConvPd() : pd;
  };
  if (ConvPd pd = describe()) return pd;
  from = to = mlopt::Layout::kChannelsLast;
  return describe();
}

Expected<PlannedStep> plan_primitive(const Parameters& p, const ConvShape& given, const Site& site) {
  const ConvShape shape = long_axes_last(given);
  mlopt::Layout from = site.desc(kSource).layout, to = site.layout;
  const ConvPd pd = choose(p, shape, from, to);
  if (!pd) return Decline{"oneDNN has only a plain loop for it"};
  const auto pack = [&] { return std::make_shared<Packed>(p.weights.numbers, plain(Elem::s8, shape.weights)); };
  const auto weights = shared_weights<Packed>(site.context.weights, *site.constant(kWeights),
                                              fmt::format("onednn bytes of {}", to_string(shape.weights)), pack);
  std::vector<Primitive::Argument> args{{DNNL_ARG_SRC, pd.src_desc(), Source::in(kSource)},
                                        {DNNL_ARG_WEIGHTS, pd.weights_desc(), Source::of(weights, pd.weights_desc())},
                                        {DNNL_ARG_DST, pd.dst_desc(), Source::out(0)}};
  add_constants(p, args);
  auto op = Primitive::make<dnnl::convolution_forward>(pd, std::move(args));
  PlannedStep step{.out = {{p.type, given.dst, to}}};
  op.describe(step);
  step.in.resize(site.in.size(), mlopt::Layout::kRowMajor);
  step.in[kSource] = from;
  if (p.sum) step.in[kOther] = to;
  step.packed = constant_inputs(site);
  step.run = [op = std::move(op), p, count = step.out[0].size()](const Buffers& b) {
    op.run(b);
    add_other(p, count, b);
  };
  return step;
}

// ---- Tiles of our own elsewhere

/// The factors and offsets that take sums to output steps.
struct Rounding {
  std::vector<float> factors, offsets;
};

Rounding rounding_of(const Parameters& p) {
  Rounding r{p.factors, std::vector<float>(p.factors.size(), 0.0f)};
  for (size_t c = 0; c < p.factors.size(); ++c) {
    r.factors[c] /= p.scale;
    if (!p.bias.empty()) r.offsets[c] = p.bias[c] * r.factors[c];
  }
  r.factors.resize(r.factors.size() + ByteFinish::kSlack);
  r.offsets.resize(r.factors.size());
  return r;
}

Expected<PlannedStep> plan_tiles(const Parameters& p, const ConvShape& shape, const Site& site) {
  if (!ByteConv::fits(ByteShape::conv(shape))) return Decline{"taps lie too far apart"};
  const bool from_last = site.desc(kSource).layout == mlopt::Layout::kChannelsLast;
  const bool to_last = site.layout == mlopt::Layout::kChannelsLast;
  const auto pack = [&] {
    return std::make_shared<PackedTaps>(ByteShape::conv(shape), p.weights.numbers, p.weights.zeros, false);
  };
  const auto weights =
      shared_weights<PackedTaps>(site.context.weights, *site.constant(kWeights),
                                 taps_form(fmt::format("{} groups", shape.groups), p.weights.zeros), pack);
  const ByteSource source{p.source_type == DType::kI8, from_last};
  const auto conv =
      std::make_shared<const ByteConv>(ByteShape::conv(shape), source, to_last, weights.get(), max_threads());
  PlannedStep step{.out = {{p.type, shape.dst, site.layout}}};
  step.label = "byte tiles";
  step.packed_bytes = weights->bytes();
  step.scratch_bytes = conv->scratch_bytes();
  step.packed = constant_inputs(site);
  const bool adds = p.sum && to_last;  // while the sums are at hand
  if (adds) step.in_place = kOther;
  step.run = [=, r = rounding_of(p), from_signed = p.source_type == DType::kI8, to_signed = p.type == DType::kI8,
              count = step.out[0].size()](const Buffers& b) {
    ByteFinish finish{.kind = ByteFinish::Kind::kBytes};
    finish.factors = r.factors.data();
    finish.offsets = r.offsets.data();
    finish.zero = p.zero;
    finish.is_signed = to_signed;
    finish.out = b.out<std::byte>(0);
    ByteFinish::Sum sum;
    if (adds) {
      sum = {{b.in<std::byte>(kOther), to_signed},
             p.scale,
             p.sum->other.scale,
             p.sum->total.scale,
             p.sum->other.zero,
             p.sum->total.zero};
      finish.sum = &sum;
    }
    conv->run({b.in<std::byte>(kSource), from_signed}, p.source_zero, weights->view(), finish, b.scratch);
    if (!adds) add_other(p, count, b);
  };
  return step;
}

Expected<PlannedStep> plan(const Site& site) {
  if (site.view.get_int("channels_last", 0) != 0) return Decline{"channels come last"};
  auto p = parameters_of(site);
  if (!p) return p.error();
  const auto shape = conv_shape(site.view, site.desc(kSource).dims, site.desc(kWeights).dims);
  if (!shape) return shape.error();
  const auto sum = sum_of(site, p->type, shape->dst);
  if (!sum) return sum.error();
  p->sum = *sum;
  if (has_byte_products() && p->weights.symmetric())
    if (auto step = plan_primitive(*p, *shape, site)) return step;
  return plan_tiles(*p, *shape, site);
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "QLinearConv", .plan = guarded<plan>, .layout = LayoutRule::kChannelsLast},
    {.domain = "com.microsoft", .op = "QLinearConv", .plan = guarded<plan>, .layout = LayoutRule::kChannelsLast},
    {.domain = "mlopt", .op = "QLinearConvAdd", .plan = guarded<plan>, .layout = LayoutRule::kChannelsLast},
};

}  // namespace

std::span<const Kernel> qconv_kernels() { return kKernels; }

}  // namespace mlopt::cpu
