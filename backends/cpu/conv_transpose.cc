// ConvTranspose, as oneDNN's deconvolution.
#include <algorithm>
#include <utility>

#include "backends/cpu/kernels.h"
#include "backends/cpu/operand.h"
#include "backends/cpu/planned.h"
#include "backends/cpu/window.h"

namespace mlopt::cpu {
namespace {

enum Input { kSource, kWeights, kBias };

struct Shared {
  NodeView view;
  std::shared_ptr<Packed> weights;  ///< null: not constant
};

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

/// Where the window of the transposed convolution begins and ends over the output, which this computes.
Expected<Dims> output_of(const NodeView& view, const Dims& in, Window& w) {
  const size_t rank = in.size();
  const Dims extra = view.get_ints("output_padding", Dims(rank, 0));
  Dims asked = view.get_ints("output_shape");
  if (asked.size() == rank + 2) asked.erase(asked.begin(), asked.begin() + 2);
  if (extra.size() != rank || (!asked.empty() && asked.size() != rank)) return Decline{"attributes do not fit"};
  const std::string mode = view.get_string("auto_pad", "NOTSET");
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  Dims out(rank);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t reach = (in[i] - 1) * w.strides[i] + w.extent(i);
    if (asked.empty() && !same) {
      out[i] = reach + extra[i] - w.begin[i] - w.end[i];
    } else {
      out[i] = asked.empty() ? in[i] * w.strides[i] : asked[i];
      const int64_t total = std::max<int64_t>(0, reach + extra[i] - out[i]);
      w.begin[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
    }
    w.end[i] = reach - w.begin[i] - out[i];  // negative where output_padding adds elements that no tap reaches
    if (extra[i] < 0 || out[i] < 1) return Decline{"an empty output"};
  }
  return out;
}

Expected<Step> plan(const Shared& shared, const Call& call) {
  for (int i = 0; i < call.input_count(); ++i)
    if (call.has(i) && call.in(i).dtype() != DType::kF32) return Decline{"not float32"};
  const Dims &x = call.in(kSource).dims(), &weights = call.in(kWeights).dims();
  if (x.size() < 3 || x.size() > 5 || weights.size() != x.size()) return Decline{"only 1 to 3 spatial axes"};
  const int64_t groups = shared.view.get_int("group", 1);
  if (groups < 1 || x[1] != weights[0] || x[1] % groups != 0) return Decline{"channels and groups do not fit"};
  const Dims kernel = spatial_of(weights);
  if (shared.view.get_ints("kernel_shape", kernel) != kernel) return Decline{"kernel_shape is not the weights'"};
  auto window = window_over(shared.view, spatial_of(x), kernel);
  if (!window) return window.error();
  const auto out = output_of(shared.view, spatial_of(x), *window);
  if (!out) return out.error();
  Dims y{x[0], weights[1] * groups};
  y.insert(y.end(), out->begin(), out->end());
  const bool bias = call.has(kBias);
  if (bias && call.in(kBias).dims() != Dims{y[1]}) return Decline{"bias does not fit"};
  const Desc lies = weight_desc(weights, groups);
  const dnnl::deconvolution_forward::primitive_desc pd(
      engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::deconvolution_direct, any(Elem::f32, x),
      any(Elem::f32, lies.get_dims()), bias ? plain(Elem::f32, {y[1]}) : Desc(), any(Elem::f32, y), window->strides,
      window->gaps(), window->begin, window->end, new_attr());
  if (is_slow(pd)) return Decline{"oneDNN has only a plain loop for it"};
  const Operand src(kSource, plain(Elem::f32, x), pd.src_desc());
  const Operand w = operand(kWeights, lies, pd.weights_desc(), shared.weights);
  const Result dst(DType::kF32, y, plain(Elem::f32, y), pd.dst_desc());
  return Step([=, op = Op::make<dnnl::deconvolution_forward>(pd)](Call& c) {
    Workspace space;
    const Memory result = dst.open(c, space);
    Args args{{DNNL_ARG_SRC, src.get(c, space)}, {DNNL_ARG_WEIGHTS, w.get(c, space)}, {DNNL_ARG_DST, result}};
    if (bias) args.emplace(DNNL_ARG_BIAS, wrap(pd.bias_desc(), c.in(kBias)));
    op.run(std::move(args), space);
    dst.close(c, result, space);
  });
}

Expected<Step> compile(const NodeView& view, const CompileContext& context) {
  if (const auto no = wrong_type(view, kSource, {DType::kF32})) return *no;
  const Tensor* w = packable(view, kWeights, context);
  const int64_t groups = view.get_int("group", 1);
  const bool packs =
      w && w->dtype() == DType::kF32 && w->size() > 0 && w->rank() >= 3 && groups >= 1 && w->dim(0) % groups == 0;
  Shared shared{view, packs ? std::make_shared<Packed>(*w, weight_desc(w->dims(), groups)) : nullptr};
  return planned(view, context, [shared = std::move(shared)](const Call& call) { return plan(shared, call); });
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "ConvTranspose", .compile = compile}};

}  // namespace

std::span<const Kernel> conv_transpose_kernels() { return kKernels; }

}  // namespace mlopt::cpu
