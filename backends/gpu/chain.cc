// mlopt.Chain: elementwise operators one after the other, in registers.
#include <algorithm>
#include <utility>

#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"
#include "core/ir/read_activation.h"

namespace mlopt::gpu {
namespace {

/// As many operators as one launch takes; `inputs`: of the node, by operand.
struct Segment {
  ChainArgs args{};
  std::vector<int> inputs = {0};
};

/// The chain in segments, each of which works on what the one before made.
Expected<std::vector<Segment>> segments_of(const Site& site) {
  const std::vector<std::string> ops = site.view.get_strings("ops");
  const std::vector<float> params = site.view.get_floats("params");
  const std::vector<int64_t> operands = site.view.get_ints("operands");
  std::vector<Segment> segments(1);
  for (size_t i = 0; i < ops.size(); ++i) {
    if (segments.back().args.count == ChainArgs::kLinks || segments.back().inputs.size() == ChainArgs::kTensors)
      segments.emplace_back();
    Segment& segment = segments.back();
    ChainLink link{};
    if (operands[i] == 0) {
      const auto act = activation_of(ops[i], {params[2 * i], params[2 * i + 1]});
      if (!act) return act.error();
      link.act = *act;
    } else {
      link.op = arith_named(ops[i]);
      link.operand = static_cast<int>(segment.inputs.size());
      link.left = operands[i] > 0;
      segment.inputs.push_back(static_cast<int>(std::abs(operands[i])));
    }
    segment.args.links[segment.args.count++] = link;
  }
  return segments;
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto type = float_of(x.dtype);
  auto segments = segments_of(site);
  if (!type || !segments) return type ? segments.error() : type.error();
  for (Segment& segment : *segments) {
    std::array<Dims, ChainArgs::kTensors> strides;
    for (size_t k = 0; k < strides.size(); ++k)
      strides[k] = k < segment.inputs.size()
                       ? in_memory_order(broadcast_strides(site.desc(segment.inputs[k]), x.dims), x.layout)
                       : Dims(x.dims.size(), 0);
    const auto walk = walk_over<ChainArgs::kTensors>(x.memory_dims(), strides);
    if (!walk) return walk.error();
    segment.args.walk = *walk;
    segment.args.type = *type;
  }
  const auto& inputs = site.view.node().inputs();
  PlannedStep step{.out = {x}};
  step.in_place = std::count(inputs.begin(), inputs.end(), inputs[0]) == 1 ? 0 : -1;
  step.run = [segments = *std::move(segments)](const Buffers& b) {
    for (const Segment& segment : segments) {
      ChainArgs args = segment.args;
      for (size_t k = 0; k < segment.inputs.size(); ++k) args.in[k] = b.in<void>(segment.inputs[k]);
      if (&segment != &segments.front()) args.in[0] = b.out<void>(0);
      args.out = b.out<void>(0);
      launch(b, &Kernels::chain, args);
    }
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "mlopt", .op = "Chain", .plan = plan, .layout = LayoutRule::kFollows}};

}  // namespace

std::span<const Kernel> chain_kernels() { return kKernels; }

}  // namespace mlopt::gpu
