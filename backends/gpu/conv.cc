// Conv, com.microsoft.FusedConv and ConvTranspose over one to three spatial axes.
#include "backends/gpu/conv.h"

#include "backends/gpu/conv_product.h"
#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"
#include "backends/gpu/windows.h"
#include "core/ir/read_activation.h"

namespace mlopt::gpu {

Windows windows_of(const Window& window, const Dims& in, const Dims& out) {
  Windows w{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}};
  const size_t rank = window.kernel.size();
  for (size_t k = 0; k < rank; ++k) {
    const size_t at = 3 - rank + k;
    w.in[at] = static_cast<int>(in[k + 2]);
    w.out[at] = static_cast<int>(out[k + 2]);
    w.kernel[at] = static_cast<int>(window.kernel[k]);
    w.stride[at] = static_cast<int>(window.strides[k]);
    w.dilation[at] = static_cast<int>(window.dilations[k]);
    w.before[at] = static_cast<int>(window.begin[k]);
  }
  return w;
}

namespace {

enum Input { kSource, kWeights, kBias, kAddend };

Expected<ConvArgs> args_of(const Site& site, int64_t channels_out) {
  const Dims &x = site.desc(kSource).dims, &w = site.desc(kWeights).dims;
  for (const auto& desc : site.in)
    if (desc && desc->dtype != site.desc(kSource).dtype) return Decline{"operands of two types"};
  const auto type = float_of(site.desc(kSource).dtype);
  const auto act = fused_activation(site.view);
  if (!type || !act) return type ? act.error() : type.error();
  if (x.size() < 3 || x.size() > 5 || w.size() != x.size()) return Decline{"only 1 to 3 spatial axes"};
  const int64_t groups = site.view.get_int("group", 1);
  if (groups < 1 || channels_out % groups != 0 || x[1] % groups != 0) return Decline{"channels and groups do not fit"};
  if (site.view.get_ints("kernel_shape", spatial_of(w)) != spatial_of(w))
    return Decline{"kernel_shape is not the weights'"};
  if (site.has(kBias) && site.desc(kBias).dims != Dims{channels_out}) return Decline{"bias does not fit"};
  ConvArgs args{};
  args.type = *type;
  args.act = *act;
  args.batch = static_cast<int>(x[0]);
  args.channels_in = static_cast<int>(x[1]);
  args.channels_out = static_cast<int>(channels_out);
  args.groups = static_cast<int>(groups);
  return args;
}

PlannedStep conv_step(const Site& site, TensorDesc out, ConvArgs args,
                      Status (*Kernels::*kernel)(Queue&, const ConvArgs&), std::shared_ptr<Brought> weights = nullptr) {
  PlannedStep step{.out = {std::move(out)}};
  step.run = [args, kernel, weights, bias = site.has(kBias), addend = site.has(kAddend)](const Buffers& b) {
    ConvArgs now = args;
    now.in = b.in<void>(kSource);
    now.weights = weights ? weights->at(queue_of(b)) : b.in<void>(kWeights);
    now.bias = bias ? b.in<void>(kBias) : nullptr;
    now.addend = addend ? b.in<void>(kAddend) : nullptr;
    now.out = b.out<void>(0);
    launch(b, kernel, now);
  };
  return step;
}

bool are_countable(const Site& site, const TensorDesc& out) {
  return is_countable(out) && is_countable(site.desc(kSource)) && is_countable(site.desc(kWeights));
}

Expected<PlannedStep> plan_conv(const Site& site) {
  const auto shape = conv_shape(site);
  if (!shape) return shape.error();
  return own_conv(site, *shape);
}

Expected<PlannedStep> plan_transposed(const Site& site) {
  const auto shape = transposed_shape(site);
  if (!shape) return shape.error();
  return own_transposed(site, *shape);
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Conv", .plan = plan_conv},
    {.domain = "com.microsoft", .op = "FusedConv", .plan = plan_conv},
    {.domain = "", .op = "ConvTranspose", .plan = plan_transposed},
};

}  // namespace

Expected<ConvShape> conv_shape(const Site& site) {
  const Dims &x = site.desc(kSource).dims, &w = site.desc(kWeights).dims;
  if (w.empty()) return Decline{"no weights"};
  auto args = args_of(site, w[0]);
  if (!args) return args.error();
  if (w[1] * args->groups != x[1]) return Decline{"channels and groups do not fit"};
  const auto window = window_over(site.view, spatial_of(x), spatial_of(w));
  if (!window) return window.error();
  const auto places = positions(*window, spatial_of(x));
  if (!places) return places.error();
  TensorDesc out{site.desc(kSource).dtype, {x[0], w[0]}};
  out.dims.insert(out.dims.end(), places->begin(), places->end());
  if (!are_countable(site, out)) return Decline{"more elements than kernels count"};
  if (site.has(kAddend) && site.desc(kAddend).dims != out.dims) return Decline{"addend does not fit"};
  args->windows = windows_of(*window, x, out.dims);
  return ConvShape{*args, std::move(out)};
}

PlannedStep own_conv(const Site& site, const ConvShape& shape) {
  if (auto step = conv_by_product(site, shape.out, shape.args)) return *std::move(step);
  return plain_conv(site, shape);
}

PlannedStep plain_conv(const Site& site, const ConvShape& shape, std::shared_ptr<Brought> weights) {
  return conv_step(site, shape.out, shape.args, &Kernels::conv, std::move(weights));
}

Expected<ConvShape> transposed_shape(const Site& site) {
  const Dims &x = site.desc(kSource).dims, &w = site.desc(kWeights).dims;
  if (w.size() < 3 || x.size() != w.size() || w[0] != x[1]) return Decline{"weights do not fit"};
  const int64_t groups = site.view.get_int("group", 1);
  auto args = args_of(site, w[1] * groups);
  if (!args) return args.error();
  auto window = window_over(site.view, spatial_of(x), spatial_of(w));
  if (!window) return window.error();
  const auto places = transposed_positions(site.view, spatial_of(x), *window);
  if (!places) return places.error();
  TensorDesc out{site.desc(kSource).dtype, {x[0], w[1] * groups}};
  out.dims.insert(out.dims.end(), places->begin(), places->end());
  if (!are_countable(site, out)) return Decline{"more elements than kernels count"};
  args->windows = windows_of(*window, out.dims, x);  // the convolution that goes the other way
  return ConvShape{*args, std::move(out)};
}

PlannedStep own_transposed(const Site& site, const ConvShape& shape) {
  if (auto step = transposed_by_product(site, shape.out, shape.args)) return *std::move(step);
  return conv_step(site, shape.out, shape.args, &Kernels::conv_transpose);
}

std::span<const Kernel> conv_kernels() { return kKernels; }

}  // namespace mlopt::gpu
