// The gradient of a convolution's weights, as oneDNN's backward pass.
#include "backends/cpu/kernels.h"
#include "backends/cpu/primitive.h"
#include "core/ir/window.h"

namespace mlopt::cpu {
namespace {

using Forward = dnnl::convolution_forward::primitive_desc;
using Backward = dnnl::convolution_backward_weights::primitive_desc;

/// [M, C / g, k...] as it lies; in groups [g, M / g, C / g, k...].
Desc weight_desc(Dims weights, int64_t groups) {
  if (groups > 1) {
    weights[0] /= groups;
    weights.insert(weights.begin(), groups);
  }
  return plain(Elem::f32, weights);
}

Backward backward_of(const Dims& x, const Dims& dy, const Desc& weights, const Window& w) {
  const Desc src = any(Elem::f32, x), out = any(Elem::f32, dy), by = any(Elem::f32, weights.get_dims());
  const auto direct = dnnl::algorithm::convolution_direct;
  const Forward hint(engine(), dnnl::prop_kind::forward_training, direct, src, by, out, w.strides, w.gaps(), w.begin,
                     w.end, new_attr(), true);
  if (!hint) return {};
  return {engine(), direct, src, by, out, w.strides, w.gaps(), w.begin, w.end, hint, new_attr(), true};
}

Expected<PlannedStep> plan(const Site& site) {
  const Dims &x = site.desc(0).dims, &dy = site.desc(1).dims, shape = site.view.get_ints("shape");
  if (site.desc(0).dtype != DType::kF32 || site.desc(1).dtype != DType::kF32) return Decline{"not float32"};
  if (x.size() < 3 || x.size() > 5 || dy.size() != x.size() || shape.size() != x.size())
    return Decline{"only 1 to 3 spatial axes"};
  const int64_t groups = site.view.get_int("group", 1);
  if (groups < 1 || shape[0] % groups != 0 || x[1] != shape[1] * groups) return Decline{"groups do not fit"};
  const auto window = window_over(site.view, spatial_of(x), spatial_of(shape));
  if (!window) return window.error();
  const Desc lies = weight_desc(shape, groups);
  const Backward pd = backward_of(x, dy, lies, *window);
  if (is_slow(pd)) return Decline{"oneDNN has only a plain loop for it"};
  PlannedStep step{.out = {{DType::kF32, shape}}};
  Primitive op;
  const Source src = input_as(0, desc_of(site.desc(0)), pd.src_desc(), op);
  const Source grad = input_as(1, desc_of(site.desc(1)), pd.diff_dst_desc(), op);
  const bool as_wanted = pd.diff_weights_desc() == lies;
  const size_t at = op.scratch_bytes();
  const Source made = as_wanted ? Source::out(0) : Source::scratch(at);
  auto main =
      Primitive::make<dnnl::convolution_backward_weights>(pd,
                                                          {{DNNL_ARG_SRC, pd.src_desc(), src},
                                                           {DNNL_ARG_DIFF_DST, pd.diff_dst_desc(), grad},
                                                           {DNNL_ARG_DIFF_WEIGHTS, pd.diff_weights_desc(), made}},
                                                          as_wanted ? at : at + pd.diff_weights_desc().get_size());
  main.run_after(std::move(op));
  if (!as_wanted) {
    const dnnl::reorder::primitive_desc copy(engine(), pd.diff_weights_desc(), engine(), lies, new_attr());
    auto last = Primitive::make<dnnl::reorder>(
        copy, {{DNNL_ARG_FROM, pd.diff_weights_desc(), made}, {DNNL_ARG_TO, lies, Source::out(0)}},
        main.scratch_bytes());
    last.run_after(std::move(main));
    main = std::move(last);
  }
  main.describe(step);
  step.label = pd.impl_info_str();
  step.run = [op = std::move(main)](const Buffers& b) { op.run(b); };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "mlopt", .op = "ConvGradWeight", .plan = guarded<plan>, .layout = LayoutRule::kAny}};

}  // namespace

std::span<const Kernel> conv_grad_kernels() { return kKernels; }

}  // namespace mlopt::cpu
