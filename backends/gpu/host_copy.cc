// What a run puts aside in memory of the host for a while, so that the device's is another's meanwhile.
#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"
#include "core/ir/typed_op.h"

namespace mlopt::gpu {
namespace {

/// A value's place on the host, and who is told what its copies cost.
struct Aside {
  int64_t place;
  size_t bytes;
  std::shared_ptr<HostTraffic> traffic;  ///< null: nobody
  std::shared_ptr<bool> told = std::make_shared<bool>(false);

  /// Begins when what is in the queue now is done. The first copy is timed: it is not captured yet.
  void begin(WorkQueue& queue, void* to, const void* from) const {
    WorkQueue& copies = queue.copies();
    copies.follow(queue);
    if (!traffic || *told) return copies.transfer(to, from, bytes);
    check(queue.api().start_clock(&copies.get()), "timing");
    copies.transfer(to, from, bytes);
    double seconds = 0;
    check(queue.api().stop_clock(&copies.get(), &seconds), "timing");
    traffic->bytes += static_cast<int64_t>(bytes);
    traffic->seconds += seconds;
    *told = true;
  }
};

Aside aside_of(const Site& site, const TensorDesc& value) {
  return {site.view.get_int("place", 0), value.bytes(), site.context.host_traffic};
}

/// x begins to go to the host; what is made stands for it.
Expected<PlannedStep> plan_to_host(const Site& site) {
  PlannedStep step{.out = {{DType::kU8, {1}}}};
  step.run = [aside = aside_of(site, site.desc(0))](const Buffers& b) {
    WorkQueue& queue = queue_of(b);
    aside.begin(queue, queue.aside(aside.place, aside.bytes), b.in<void>(0));
  };
  return step;
}

/// Until here x must stay.
Expected<PlannedStep> plan_to_host_end(const Site&) {
  PlannedStep step{.out = {{DType::kU8, {1}}}};
  step.run = [](const Buffers& b) { queue_of(b).follow(queue_of(b).copies()); };
  return step;
}

Expected<PlannedStep> plan_from_host(const Site& site) {
  const std::vector<Type> types = kept_types(site.view.node());
  const auto dims = types.empty() ? std::nullopt : types[0].static_dims();
  if (!dims) return Decline{"its shape is not known"};
  const TensorDesc value{types[0].dtype, *dims};
  PlannedStep step{.out = {value}};
  step.run = [aside = aside_of(site, value)](const Buffers& b) {
    WorkQueue& queue = queue_of(b);
    aside.begin(queue, b.out<void>(0), queue.aside(aside.place, aside.bytes));
  };
  return step;
}

/// From here on it is there.
Expected<PlannedStep> plan_from_host_end(const Site& site) {
  PlannedStep step{.out = {site.desc(0)}};
  step.in_place = 0;
  step.run = [bytes = site.desc(0).bytes()](const Buffers& b) {
    WorkQueue& queue = queue_of(b);
    queue.follow(queue.copies());
    if (b.out<void>(0) != b.in<void>(0)) queue.transfer(b.out<void>(0), b.in<void>(0), bytes);
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "mlopt", .op = "ToHost", .plan = plan_to_host},
    {.domain = "mlopt", .op = "ToHostEnd", .plan = plan_to_host_end},
    {.domain = "mlopt", .op = "FromHost", .plan = plan_from_host},
    {.domain = "mlopt", .op = "FromHostEnd", .plan = plan_from_host_end},
};

}  // namespace

std::span<const Kernel> host_copy_kernels() { return kKernels; }

}  // namespace mlopt::gpu
