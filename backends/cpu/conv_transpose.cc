// ConvTranspose, as oneDNN's deconvolution.
#include <fmt/core.h>

#include <utility>

#include "backends/cpu/kernels.h"
#include "backends/cpu/primitive.h"
#include "core/ir/window.h"

namespace mlopt::cpu {
namespace {

enum Input { kSource, kWeights, kBias };

/// ONNX stores [C, M/g, k...]; oneDNN counts [M, C, k...], or [g, M/g, C/g, k...] when grouped.
Desc weight_desc(const Dims& w, int64_t groups) {
  Dims lies = w;
  lies[0] /= groups;
  lies.insert(lies.begin(), groups);
  Dims strides = row_major_strides(lies);
  std::swap(lies[1], lies[2]);
  std::swap(strides[1], strides[2]);
  if (groups == 1) {
    lies.erase(lies.begin());
    strides.erase(strides.begin());
  }
  return Desc(lies, Elem::f32, strides);
}

using Pd = dnnl::deconvolution_forward::primitive_desc;

/// A transposed convolution as a primitive sees it.
struct Shape {
  Dims src, dst;
  Desc weights;
  Window window;
};

Expected<Shape> shape_of(const Site& site) {
  const Dims &x = site.desc(kSource).dims, &weights = site.desc(kWeights).dims;
  if (x.size() < 3 || x.size() > 5 || weights.size() != x.size()) return Decline{"only 1 to 3 spatial axes"};
  const int64_t groups = site.view.get_int("group", 1);
  if (groups < 1 || x[1] != weights[0] || x[1] % groups != 0) return Decline{"channels and groups do not fit"};
  const Dims kernel = spatial_of(weights);
  if (site.view.get_ints("kernel_shape", kernel) != kernel) return Decline{"kernel_shape is not the weights'"};
  auto window = window_over(site.view, spatial_of(x), kernel);
  if (!window) return window.error();
  const auto out = transposed_positions(site.view, spatial_of(x), *window);
  if (!out) return out.error();
  Dims y{x[0], weights[1] * groups};
  y.insert(y.end(), out->begin(), out->end());
  return Shape{x, std::move(y), weight_desc(weights, groups), *std::move(window)};
}

/// A primitive for one choice of layouts.
struct Choice {
  mlopt::Layout src, dst;
  Pd pd;
};

/// The first that is no plain loop: in the layouts that are at hand, then channels-last, then row-major.
Expected<Choice> choose(const Site& site, const Shape& s, bool bias) {
  using L = mlopt::Layout;
  const std::pair<L, L> layouts[] = {
      {site.desc(kSource).layout, site.layout}, {L::kChannelsLast, L::kChannelsLast}, {L::kRowMajor, L::kRowMajor}};
  for (const auto& [src, dst] : layouts) {
    Pd pd(engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::deconvolution_direct,
          desc_of({DType::kF32, s.src, src}), any(Elem::f32, s.weights.get_dims()),
          bias ? plain(Elem::f32, {s.dst[1]}) : Desc(), desc_of({DType::kF32, s.dst, dst}), s.window.strides,
          s.window.gaps(), s.window.begin, s.window.end, new_attr(), true);
    if (!is_slow(pd)) return Choice{src, dst, std::move(pd)};
  }
  return Decline{"oneDNN has only a plain loop for it"};
}

Expected<PlannedStep> plan(const Site& site) {
  for (const auto& desc : site.in)
    if (desc && desc->dtype != DType::kF32) return Decline{"not float32"};
  const auto shape = shape_of(site);
  if (!shape) return shape.error();
  const bool bias = site.has(kBias);
  if (bias && site.desc(kBias).dims != Dims{shape->dst[1]}) return Decline{"bias does not fit"};
  const auto choice = choose(site, *shape, bias);
  if (!choice) return choice.error();
  const Pd& pd = choice->pd;
  PlannedStep step{.out = {{DType::kF32, shape->dst, choice->dst}}};
  Primitive before;
  const Source weights = weights_of(site, kWeights, fmt::format("deconv, {} groups", site.view.get_int("group", 1)),
                                    shape->weights, pd.weights_desc(), step, before);
  std::vector<Primitive::Argument> args{{DNNL_ARG_SRC, pd.src_desc(), Source::in(kSource)},
                                        {DNNL_ARG_WEIGHTS, pd.weights_desc(), weights},
                                        {DNNL_ARG_DST, pd.dst_desc(), Source::out(0)}};
  if (bias) args.push_back({DNNL_ARG_BIAS, pd.bias_desc(), Source::in(kBias)});
  auto op = Primitive::make<dnnl::deconvolution_forward>(pd, std::move(args), before.scratch_bytes());
  op.run_after(std::move(before));
  op.describe(step);
  step.in = {choice->src, mlopt::Layout::kRowMajor, mlopt::Layout::kRowMajor};
  step.in.resize(site.in.size());
  step.run = [op = std::move(op)](const Buffers& b) { op.run(b); };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "ConvTranspose", .plan = guarded<plan>, .layout = LayoutRule::kChannelsLast}};

}  // namespace

std::span<const Kernel> conv_transpose_kernels() { return kKernels; }

}  // namespace mlopt::cpu
