// QLinearConv. Where 8 bit products are exact the whole operator is one primitive; elsewhere the integers are
// multiplied as float32, which holds them, and the sums are rounded by us.
#include <algorithm>
#include <utility>

#include "backends/cpu/conv_shape.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/operand.h"
#include "backends/cpu/planned.h"
#include "backends/cpu/quantized.h"
#include "core/base/parallel.h"
#include "core/tensor/cast.h"

namespace mlopt::cpu {
namespace {

enum Input { kSource, kSourceScale, kSourceZero, kWeights, kWeightScale, kWeightZero, kScale, kZero, kBias };

struct Shared {
  NodeView view;
  ByteWeights weights;
  std::shared_ptr<Packed> bytes, floats;  ///< `floats` is made when first needed
  std::vector<float> factors;             ///< source scale x weight scale, for each channel out
  std::vector<float> bias;                ///< in units of the factors; empty: none
  float scale;                            ///< of the output
  int32_t source_zero, zero;
  DType source_type, type;
};

/// Scales and zero points that every execution of the primitive is given.
Args constants_of(const Shared& s) {
  std::vector<float> real = s.bias;  // the primitive adds it after scaling
  for (size_t c = 0; c < real.size(); ++c) real[c] *= s.factors[c];
  Args args{{DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, memory_of(s.factors)},
            {DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, memory_of(std::vector{s.scale})}};
  if (s.source_zero != 0) args.emplace(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, memory_of(s.source_zero));
  if (s.zero != 0) args.emplace(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_DST, memory_of(s.zero));
  if (!real.empty()) args.emplace(DNNL_ARG_BIAS, memory_of(real));
  return args;
}

dnnl::primitive_attr attr_of(const Shared& s, int64_t groups) {
  dnnl::primitive_attr attr = new_attr();
  attr.set_scales_mask(DNNL_ARG_WEIGHTS, groups == 1 ? 1 : 3);
  attr.set_scales_mask(DNNL_ARG_DST, 0);
  if (s.source_zero != 0) attr.set_zero_points_mask(DNNL_ARG_SRC, 0);
  if (s.zero != 0) attr.set_zero_points_mask(DNNL_ARG_DST, 0);
  return attr;
}

Expected<Step> plan_bytes(Shared& s, const ConvShape& shape) {
  const Elem from = *elem_of(s.source_type), to = *elem_of(s.type);
  const Desc bias = s.bias.empty() ? Desc() : plain(Elem::f32, {shape.channels_out()});
  const ConvPd pd =
      describe_conv(shape, any(from, shape.src), Elem::s8, bias, any(to, shape.dst), attr_of(s, shape.groups));
  if (is_slow(pd)) return Decline{"oneDNN has only a plain loop for it"};
  if (!s.bytes) s.bytes = std::make_shared<Packed>(s.weights.numbers, plain(Elem::s8, shape.weights));
  const Memory weights = s.bytes->as(pd.weights_desc());
  const Operand src(kSource, plain(from, shape.src), pd.src_desc());
  const Result dst(s.type, shape.dst, plain(to, shape.dst), pd.dst_desc());
  return Step([=, constants = constants_of(s), op = Op::make<dnnl::convolution_forward>(pd)](Call& c) {
    Workspace space;
    const Memory out = dst.open(c, space);
    Args args = constants;
    args.insert({{DNNL_ARG_SRC, src.get(c, space)}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, out}});
    op.run(std::move(args), space);
    dst.close(c, out, space);
  });
}

/// The source's integers as float32, row-major.
Memory widened(const Tensor& x, int32_t zero, const Desc& desc, Workspace& space) {
  Memory wide = space.memory(desc);
  auto* numbers = static_cast<float*>(wide.get_data_handle());
  constexpr int64_t kGrain = 32768;
  parallel_for(x.size(), kGrain, [&](int64_t begin, int64_t end) {
    dequantize(bytes_of(x).at(begin), numbers + begin, end - begin, 1, zero);
  });
  return wide;
}

/// The factors and offsets that take sums to output steps.
struct Rounding {
  std::vector<float> factors, offsets;
  int32_t zero;
};

void round_planes(const Rounding& r, const float* sums, const ConvShape& shape, Tensor& out) {
  const int64_t channels = shape.channels_out(), planes = shape.dst[0] * channels, size = out.size() / planes;
  const MutableBytes y = bytes_of(out);
  parallel_for(planes, std::max<int64_t>(1, 32768 / size), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto c = static_cast<size_t>(i % channels);
      requantize(sums + i * size, y.at(i * size), size, r.factors[c], r.offsets[c], r.zero);
    }
  });
}

Rounding rounding_of(const Shared& s) {
  Rounding r{s.factors, std::vector<float>(s.factors.size(), 0.0f), s.zero};
  for (size_t c = 0; c < r.factors.size(); ++c) {
    r.factors[c] /= s.scale;
    if (!s.bias.empty()) r.offsets[c] = s.bias[c] * r.factors[c];
  }
  return r;
}

Expected<Step> plan_floats(Shared& s, const ConvShape& shape) {
  const ConvPd pd = describe_float_conv(shape, new_attr(), false);
  if (is_slow(pd)) return Decline{"oneDNN has only a plain loop for it"};
  if (!s.floats)
    s.floats =
        std::make_shared<Packed>(centred(s.weights.numbers, s.weights.zeros, 0), plain(Elem::f32, shape.weights));
  const Memory weights = s.floats->as(pd.weights_desc());
  const Desc wide = plain(Elem::f32, shape.src), sums = plain(Elem::f32, shape.dst);
  const Copy in(wide, pd.src_desc()), out(pd.dst_desc(), sums);
  return Step([=, zero = s.source_zero, type = s.type, r = rounding_of(s),
               op = Op::make<dnnl::convolution_forward>(pd)](Call& c) {
    Workspace space;
    const Memory src = in.of(widened(c.in(kSource), zero, wide, space), space), dst = space.memory(pd.dst_desc());
    op.run({{DNNL_ARG_SRC, src}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, dst}}, space);
    const Memory rows = out.of(dst, space);
    round_planes(r, static_cast<const float*>(rows.get_data_handle()), shape, c.make(0, type, shape.dst));
  });
}

/// A scale or zero point for the whole tensor.
template <class T>
std::optional<T> single(const std::vector<T>& values) {
  return values.size() == 1 ? std::optional(values[0]) : std::nullopt;
}

Expected<Shared> shared_of(const NodeView& view) {
  const Tensor *w = view.constant(kWeights), *wz = view.constant(kWeightZero), *bias = view.constant(kBias);
  const Tensor *xz = view.constant(kSourceZero), *yz = view.constant(kZero);
  const auto xs = constant_scales(view, kSourceScale), ws = constant_scales(view, kWeightScale),
             ys = constant_scales(view, kScale);
  if (!w || !wz || !xz || !yz || !xs || !ws || !ys) return Decline{"weights, scales or zero points are not constant"};
  if (!is_bytes(w->dtype()) || wz->dtype() != w->dtype() || w->rank() < 3 || w->size() == 0 || !is_bytes(xz->dtype()) ||
      !is_bytes(yz->dtype()))
    return Decline{"not 8 bits"};
  const auto source_zero = single(zeros_in(xz)), zero = single(zeros_in(yz));
  if (!source_zero || !zero || xs->size() != 1 || ys->size() != 1) return Decline{"activations are scaled by channel"};
  const int64_t channels = w->dim(0);
  const auto fits = [channels](size_t n) { return n == 1 || n == static_cast<size_t>(channels); };
  Shared s{view, byte_weights(*w, wz), {}, {}, {}, {}, (*ys)[0], *source_zero, *zero, xz->dtype(), yz->dtype()};
  if (!fits(ws->size()) || !fits(s.weights.zeros.size())) return Decline{"weight scales do not fit the channels"};
  for (int64_t c = 0; c < channels; ++c) s.factors.push_back((*xs)[0] * at(*ws, c));
  if (!view.node().input(kBias)) return s;
  if (!bias || bias->dtype() != DType::kI32 || bias->dims() != Dims{channels})
    return Decline{"the bias is not constant"};
  s.bias = to_floats(*bias);
  return s;
}

/// Do products of bytes give the sums exactly? Depthwise primitives widen unsigned sources and weights to 32 bits
/// first.
bool exact_in_bytes(const Shared& s, const ConvShape& shape) {
  const bool depthwise = shape.groups > 1 && shape.groups == shape.src[1] && shape.groups == shape.channels_out();
  return s.weights.symmetric() &&
         ((depthwise && s.source_type == DType::kU8) || s.weights.exact_with(s.source_type, 0));
}

Expected<Step> compile(const NodeView& view, const CompileContext& context) {
  if (context.weights_mutable) return Decline{"weights may change"};
  if (view.get_int("channels_last", 0) != 0) return Decline{"channels come last"};
  Expected<Shared> found = shared_of(view);
  if (!found) return found.error();
  auto shared = std::make_shared<Shared>(std::move(*found));
  return planned(view, context, [shared](const Call& call) -> Expected<Step> {
    if (call.in(kSource).dtype() != shared->source_type)
      return Decline{"the source has another type than its zero point"};
    const auto shape = conv_shape(shared->view, call.in(kSource).dims(), call.in(kWeights).dims());
    if (!shape) return shape.error();
    if (exact_in_bytes(*shared, *shape))
      if (auto step = plan_bytes(*shared, *shape)) return step;
    return plan_floats(*shared, *shape);
  });
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "QLinearConv", .compile = compile},
    {.domain = "com.microsoft", .op = "QLinearConv", .compile = compile},
};

}  // namespace

std::span<const Kernel> qconv_kernels() { return kKernels; }

}  // namespace mlopt::cpu
