// Conv and com.microsoft.FusedConv by cuDNN, where it is installed.
#include <algorithm>
#include <atomic>
#include <memory>

#include "backends/gpu/conv.h"
#include "backends/gpu/kernels.h"

namespace mlopt::gpu {
namespace {

enum Input { kSource, kWeights, kBias, kAddend };

/// One channel a group: our kernel has as little to do as any.
bool is_depthwise(const ConvArgs& args) { return args.groups > 1 && args.groups == args.channels_in; }

/// What the library may use. Algorithms for tensor cores want other layouts, so copies of all that is read and made.
size_t room_bytes(const Site& site, const TensorDesc& out) {
  constexpr size_t kLeast = size_t{32} << 20, kMost = size_t{512} << 20;
  return std::min(kMost, kLeast + site.desc(kSource).bytes() + site.desc(kWeights).bytes() + out.bytes());
}

/// What the library declines in the first run, the device does on its own from then on.
struct Run {
  LibraryConvArgs args;
  bool bias, addend;
  std::function<void(const Buffers&)> own;
  std::shared_ptr<std::atomic<bool>> declined = std::make_shared<std::atomic<bool>>(false);

  void operator()(const Buffers& b) const {
    if (!declined->load() && by_library(b)) return;
    own(b);
  }

  bool by_library(const Buffers& b) const {
    LibraryConvArgs now = args;
    bool refused = false;
    now.conv.in = b.in<void>(kSource);
    now.conv.weights = b.in<void>(kWeights);
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

Expected<PlannedStep> plan(const Site& site) {
  auto shape = conv_shape(site);
  if (!shape) return shape.error();
  if (is_depthwise(shape->args)) return Decline{"one channel a group"};
  PlannedStep step = own_conv(site, *shape);
  const size_t room = room_bytes(site, shape->out);
  const bool tf32 = site.context.precision == Precision::kTF32;
  step.run = Run{{shape->args, false, tf32, nullptr, room, nullptr}, site.has(kBias), site.has(kAddend), step.run};
  step.scratch_bytes = std::max(step.scratch_bytes, room);
  step.label = "cudnn";
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Conv", .plan = plan},
    {.domain = "com.microsoft", .op = "FusedConv", .plan = plan},
};

}  // namespace

std::span<const Kernel> conv_library_kernels() { return kKernels; }

}  // namespace mlopt::gpu
