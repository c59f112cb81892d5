// Conv and com.microsoft.FusedConv, ConvTranspose and mlopt.ConvGradWeight by cuDNN, where it is installed. Half floats
// have their channels last where the plan keeps them so: then tensor cores take them as they lie.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>

#include "backends/gpu/conv.h"
#include "backends/gpu/kernels.h"
#include "core/exec/weight_cache.h"

namespace mlopt::gpu {
namespace {

enum Input { kSource, kWeights, kBias, kAddend };

/// One channel a group: our kernel has as little to do as any.
bool is_depthwise(const ConvArgs& args) {
  return args.groups > 1 && args.groups == std::min(args.channels_in, args.channels_out);
}

/// What the library may use. Algorithms for tensor cores want channels last, so copies of all that is read and made; or
/// of the input, with its channels filled up to 8.
size_t room_bytes(const Site& site, const ConvShape& shape) {
  constexpr size_t kLeast = size_t{32} << 20, kMost = size_t{512} << 20;
  const size_t x = site.desc(kSource).bytes();
  const auto channels = static_cast<size_t>(shape.args.channels_in);
  if (shape.args.channels_last)
    return std::min(kMost, kLeast + (channels % 8 == 0 ? 0 : x / channels * ((channels + 7) / 8 * 8)));
  return std::min(kMost, kLeast + x + site.desc(kWeights).bytes() + shape.out.bytes());
}

/// What the library declines in the first run, the device does on its own from then on.
struct Run {
  LibraryConvArgs args;
  bool bias, addend;
  std::function<void(const Buffers&)> own;
  std::shared_ptr<std::atomic<bool>> declined = std::make_shared<std::atomic<bool>>(false);

  void operator()(const Buffers& b, const void* weights) const {
    if (!declined->load() && by_library(b, weights)) return;
    own(b);
  }

  bool by_library(const Buffers& b, const void* weights) const {
    LibraryConvArgs now = args;
    bool refused = false;
    now.conv.in = b.in<void>(kSource);
    now.conv.weights = weights;
    now.conv.bias = bias ? b.in<void>(kBias) : nullptr;
    now.conv.addend = addend ? b.in<void>(kAddend) : nullptr;
    now.conv.out = b.out<void>(0);
    now.room = b.scratch;
    now.declined = &refused;
    launch(b, &Kernels::library_conv, now);
    if (refused) declined->store(true);
    return !refused;
  }
};

Run run_of(const Site& site, const ConvShape& shape, const PlannedStep& own, ConvKind kind = ConvKind::kForward) {
  const bool tf32 = site.context.precision == Precision::kTF32;
  return {
      {kind, shape.args, tf32, nullptr, room_bytes(site, shape), nullptr}, site.has(kBias), site.has(kAddend), own.run};
}

/// By the library, else as `own` does.
PlannedStep library_step(const Site& site, const ConvShape& shape, PlannedStep own, ConvKind kind) {
  const Run run = run_of(site, shape, own, kind);
  own.run = [run](const Buffers& b) { run(b, b.in<void>(kWeights)); };
  own.scratch_bytes = std::max(own.scratch_bytes, run.args.room_bytes);
  own.label = "cudnn";
  return own;
}

/// Weights [m, c, ...] as [m, ..., c].
std::shared_ptr<Brought> turned_weights(const Site& site, const Tensor& weights) {
  return shared_weights<Brought>(site.context.weights, weights, "gpu channels last", [&] {
    const TensorDesc desc{weights.dtype(), weights.dims()};
    const size_t width = static_cast<size_t>(bits(desc.dtype) / 8);
    const int64_t channels = desc.dims[1], taps = desc.size() / desc.dims[0] / channels;
    std::vector<std::byte> turned(desc.bytes());
    for (int64_t m = 0; m < desc.dims[0]; ++m)
      for (int64_t tap = 0; tap < taps; ++tap)
        for (int64_t c = 0; c < channels; ++c)
          std::memcpy(turned.data() + static_cast<size_t>((m * taps + tap) * channels + c) * width,
                      weights.raw() + static_cast<size_t>((m * channels + c) * taps + tap) * width, width);
    return std::make_shared<Brought>(std::move(turned));
  });
}

/// The same with channels last, by weights that are turned once.
Expected<PlannedStep> plan_last(const Site& site, ConvShape shape) {
  const Tensor* weights = site.constant(kWeights);
  if (!weights || bits(shape.out.dtype) != 16) return Decline{"no constant half floats"};
  shape.args.channels_last = true;
  shape.out.layout = Layout::kChannelsLast;
  const auto turned = turned_weights(site, *weights);
  PlannedStep step = plain_conv(site, shape, turned);
  step.label = "conv, channels last";
  if (!is_depthwise(shape.args)) {
    const Run run = run_of(site, shape, step);
    step.run = [run, turned](const Buffers& b) { run(b, turned->at(queue_of(b))); };
    step.scratch_bytes = run.args.room_bytes;
    step.label = "cudnn, channels last";
  }
  step.packed = {kWeights};
  step.packed_bytes = site.desc(kWeights).bytes();
  for (const auto& desc : site.in) step.in.push_back(desc ? desc->layout : Layout::kRowMajor);
  step.in[kSource] = Layout::kChannelsLast;
  if (site.has(kAddend)) step.in[kAddend] = Layout::kChannelsLast;
  return step;
}

Expected<PlannedStep> plan(const Site& site) {
  auto shape = conv_shape(site);
  if (!shape) return shape.error();
  const auto last = [](Layout layout) { return layout == Layout::kChannelsLast; };
  if (last(site.layout) || last(site.desc(kSource).layout)) return plan_last(site, *std::move(shape));
  if (is_depthwise(shape->args)) return Decline{"one channel a group"};
  return library_step(site, *shape, own_conv(site, *shape), ConvKind::kForward);
}

Expected<PlannedStep> plan_transposed(const Site& site) {
  const auto shape = transposed_shape(site);
  if (!shape) return shape.error();
  if (is_depthwise(shape->args)) return Decline{"one channel a group"};
  return library_step(site, *shape, own_transposed(site, *shape), ConvKind::kTransposed);
}

/// In the place of the weights the gradient of what the convolution makes.
Expected<PlannedStep> plan_weight_grad(const Site& site) {
  const auto shape = weight_grad_shape(site);
  if (!shape) return shape.error();
  if (is_depthwise(shape->args)) return Decline{"one channel a group"};
  return library_step(site, *shape, own_weight_grad(site, *shape), ConvKind::kWeightGrad);
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Conv", .plan = plan, .layout = LayoutRule::kChannelsLast},
    {.domain = "com.microsoft", .op = "FusedConv", .plan = plan, .layout = LayoutRule::kChannelsLast},
    {.domain = "", .op = "ConvTranspose", .plan = plan_transposed},
    {.domain = "mlopt", .op = "ConvGradWeight", .plan = plan_weight_grad},
};

}  // namespace

std::span<const Kernel> conv_library_kernels() { return kKernels; }

}  // namespace mlopt::gpu
