// BatchNormalization by the statistics of the batch, and the gradient of both forms.
#include <algorithm>

#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"

namespace mlopt::gpu {
namespace {

bool are_by_channel(const Site& site, int from, int to, int64_t channels) {
  for (int i = from; i < to; ++i)
    if (site.desc(i).dtype != DType::kF32 || site.desc(i).dims != Dims{channels}) return false;
  return true;
}

Expected<BatchNormArgs> args_of(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto type = float_of(x.dtype);
  if (!type) return type.error();
  if (x.dims.size() < 2 || x.size() == 0 || !is_countable(x)) return Decline{"no channels, or no elements"};
  BatchNormArgs args{};
  args.type = *type;
  args.epsilon = site.view.get_float("epsilon", 1e-5f);
  args.batch = x.dims[0];
  args.channels = x.dims[1];
  args.inner = around(x.dims, 2, x.dims.size()).length;
  constexpr int64_t kSlice = 8192, kMostSlices = 64;
  args.slices = std::clamp<int64_t>(args.batch * args.inner / kSlice, 1, kMostSlices);
  return args;
}

size_t room_of(const BatchNormArgs& args) {
  return static_cast<size_t>((4 * args.slices + 4) * args.channels) * sizeof(float);
}

/// Makes the totals those of a batch of the same size that is like the whole of what all ranks have. They go by way of
/// the host, which waits for them.
void share_totals(const Buffers& b, BatchNormArgs& args, const MeanOverRanks& mean) {
  if (!mean) return;
  args.totals = reinterpret_cast<ChannelTotal*>(b.scratch + room_of(args));
  launch(b, &Kernels::batch_norm_totals, args);
  WorkQueue& queue = queue_of(b);
  std::vector<double> values(4 * static_cast<size_t>(args.channels));
  queue.look(values.data(), args.totals, values.size() * sizeof(double));
  mean(values);
  queue.transfer(args.totals, values.data(), values.size() * sizeof(double));
}

PlannedStep step_of(const Site& site, const BatchNormArgs& args, std::function<void(const Buffers&)> run) {
  const TensorDesc by_channel{DType::kF32, {args.channels}};
  PlannedStep step{.out = {site.desc(0), by_channel, by_channel}};
  step.scratch_bytes = room_of(args) + static_cast<size_t>(args.channels) * sizeof(ChannelTotal);
  step.run = std::move(run);
  return step;
}

/// Where the pointers that both have are.
BatchNormArgs with_outputs(BatchNormArgs args, const Buffers& b) {
  args.in = b.in<void>(0);
  args.out = b.out<void>(0);
  args.first = b.out<float>(1);
  args.second = b.out<float>(2);
  args.sums = reinterpret_cast<float*>(b.scratch);
  return args;
}

Expected<PlannedStep> plan_training(const Site& site) {
  const NodeView& view = site.view;
  if (view.opset() < 14 || view.get_int("training_mode", 0) == 0) return Decline{"no training"};
  auto args = args_of(site);
  if (!args) return args.error();
  if (!are_by_channel(site, 1, 5, args->channels)) return Decline{"statistics do not fit the channels"};
  args->momentum = view.get_float("momentum", 0.9f);
  PlannedStep step = step_of(site, *args, [args = *args, mean = site.context.mean_over_ranks](const Buffers& b) {
    BatchNormArgs now = with_outputs(args, b);
    now.scale = b.in<float>(1);
    now.bias = b.in<float>(2);
    now.mean = b.in<float>(3);
    now.variance = b.in<float>(4);
    share_totals(b, now, mean);
    launch(b, &Kernels::batch_norm, now);
  });
  step.more_in_place = {3, 4};
  return step;
}

Expected<PlannedStep> plan_gradient(const Site& site) {
  auto args = args_of(site);
  if (!args) return args.error();
  args->fixed = site.in.size() == 5;
  if (!are_by_channel(site, 2, args->fixed ? 5 : 3, args->channels) || site.desc(1) != site.desc(0))
    return Decline{"dy or scale does not fit"};
  PlannedStep step =
      step_of(site, *args,
              [args = *args, mean = args->fixed ? MeanOverRanks() : site.context.mean_over_ranks](const Buffers& b) {
                BatchNormArgs now = with_outputs(args, b);
                now.grad = b.in<void>(1);
                now.scale = b.in<float>(2);
                now.mean = args.fixed ? b.in<float>(3) : nullptr;
                now.variance = args.fixed ? b.in<float>(4) : nullptr;
                share_totals(b, now, mean);
                launch(b, &Kernels::batch_norm_grad, now);
              });
  step.in_place = 1;
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "BatchNormalization", .plan = plan_training},
    {.domain = "mlopt", .op = "BatchNormGrad", .plan = plan_gradient},
};

}  // namespace

std::span<const Kernel> batch_norm_kernels() { return kKernels; }

}  // namespace mlopt::gpu
