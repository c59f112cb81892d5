// Normalizations: of rows (LayerNormalization, RMSNormalization and their fused forms), of channels and groups of them,
// and by stored statistics.
#include <algorithm>
#include <utility>

#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"
#include "core/base/align.h"

namespace mlopt::gpu {
namespace {

/// Pointers of a NormArgs by the node's inputs and outputs; -1: none.
struct Places {
  int skip = -1, skip_bias = -1, scale = -1, bias = -1, sum = -1;
};

/// An input that is written out as it broadcasts.
struct Spread {
  int input;
  Walk<2> walk;
  int width;
  size_t offset;  ///< in scratch
};

PlannedStep norm_step(const Site& site, NormArgs args, Places places, std::vector<Spread> spread = {}) {
  PlannedStep step{.out = {site.desc(0)}};
  for (const Spread& s : spread)
    step.scratch_bytes = s.offset + static_cast<size_t>(s.walk.count) * static_cast<size_t>(s.width);
  for (size_t i = 1; i < site.view.node().outputs().size(); ++i) step.out.push_back(site.desc(0));
  step.run = [args, places, spread = std::move(spread)](const Buffers& b) {
    NormArgs now = args;
    for (const Spread& s : spread)
      launch(b, &Kernels::copy, CopyArgs{s.width, s.walk, b.in<void>(s.input), b.scratch + s.offset});
    const auto given = [&](int i) -> const void* {
      for (const Spread& s : spread)
        if (s.input == i) return b.scratch + s.offset;
      return i < 0 ? nullptr : b.in<void>(i);
    };
    now.in = b.in<void>(0);
    now.skip = given(places.skip);
    now.skip_bias = given(places.skip_bias);
    now.scale = given(places.scale);
    now.bias = given(places.bias);
    now.out = b.out<void>(0);
    now.sum = places.sum < 0 ? nullptr : b.out<void>(places.sum);
    launch(b, &Kernels::norm, now);
  };
  return step;
}

/// The type of all operands.
Expected<Elem> type_of(const Site& site) {
  for (const auto& desc : site.in)
    if (desc && desc->dtype != site.desc(0).dtype) return Decline{"operands of two types"};
  if (!is_countable(site.desc(0))) return Decline{"more elements than kernels count"};
  return float_of(site.desc(0).dtype);
}

bool has_size(const Site& site, int i, int64_t size) { return !site.has(i) || site.desc(i).size() == size; }

/// Has it more than one element before its last `rank` axes?
bool is_larger(const Site& site, int i, size_t rank) {
  if (!site.has(i) || site.desc(i).dims.size() <= rank) return false;
  const Dims& dims = site.desc(i).dims;
  return std::any_of(dims.begin(), dims.end() - static_cast<int64_t>(rank), [](int64_t d) { return d != 1; });
}

/// Scale and bias where they are not as many as `dims`.
Expected<std::vector<Spread>> spread_over(const Site& site, const Dims& dims) {
  std::vector<Spread> all;
  size_t offset = 0;
  for (const int i : {1, 2}) {
    if (has_size(site, i, element_count(dims))) continue;
    Dims own = site.desc(i).dims;
    while (own.size() > dims.size()) own.erase(own.begin());
    const auto walk = walk_over<2>(dims, {broadcast_strides(own, dims), row_major_strides(dims)});
    if (!walk) return walk.error();
    const int width = bits(site.desc(i).dtype) / 8;
    all.push_back({i, *walk, width, offset});
    offset += static_cast<size_t>(round_up(walk->count * width, 256));
  }
  return all;
}

Expected<PlannedStep> plan_rows(const Site& site) {
  const auto type = type_of(site);
  if (!type) return type.error();
  const Dims& x = site.desc(0).dims;
  if (x.empty() || site.view.node().outputs().size() > 1) return Decline{"a scalar, or statistics are wanted"};
  const auto rank = static_cast<int64_t>(x.size());
  const auto axis = static_cast<size_t>(normalize_axis(site.view.get_int("axis", -1), rank));
  const Middle m = around(x, axis, x.size());
  // One number for each of a row, or for each of all where rows differ in them.
  const size_t row_rank = x.size() - axis;
  const bool differ = is_larger(site, 1, row_rank) || is_larger(site, 2, row_rank);
  auto spread = spread_over(site, differ ? x : Dims(x.end() - static_cast<int64_t>(row_rank), x.end()));
  if (!spread) return spread.error();
  const bool rms = site.view.node().op != "LayerNormalization";
  const NormArgs args{.type = *type,
                      .rms = rms,
                      .epsilon = site.view.get_float("epsilon", 1e-5f),
                      .rows = m.outer,
                      .length = m.length,
                      .period = differ ? m.outer : 1,
                      .channels = differ ? m.length : 0,
                      .inner = 1};
  return norm_step(site, args, {.scale = 1, .bias = site.has(2) ? 2 : -1}, *std::move(spread));
}

/// com.microsoft's: input + skip (+ bias), normalized; output 3 is the sum.
Expected<PlannedStep> plan_skip(const Site& site) {
  const auto type = type_of(site);
  if (!type) return type.error();
  const bool rms = site.view.node().op != "SkipLayerNormalization";
  const int bias = rms ? -1 : 3, skip_bias = rms ? 3 : 4;
  const Dims& x = site.desc(0).dims;
  const int64_t length = x.empty() ? 0 : x.back();
  if (site.desc(1).dims != x || site.desc(2).size() != length) return Decline{"skip or scale broadcast"};
  if ((bias > 0 && !has_size(site, bias, length)) || !has_size(site, skip_bias, length))
    return Decline{"bias does not fit"};
  const auto& outputs = site.view.node().outputs();
  for (size_t i = 1; i < outputs.size(); ++i)
    if (i != 3 && outputs[i]) return Decline{"statistics are wanted"};
  const NormArgs args{.type = *type,
                      .rms = rms,
                      .epsilon = site.view.get_float("epsilon", 1e-12f),
                      .rows = site.desc(0).size() / length,
                      .length = length,
                      .period = 1,
                      .channels = 0,
                      .inner = 1};
  return norm_step(site, args,
                   {.skip = 1,
                    .skip_bias = site.has(skip_bias) ? skip_bias : -1,
                    .scale = 2,
                    .bias = bias > 0 && site.has(bias) ? bias : -1,
                    .sum = outputs.size() > 3 && outputs[3] ? 3 : -1});
}

/// InstanceNormalization and GroupNormalization.
Expected<PlannedStep> plan_groups(const Site& site) {
  const auto type = type_of(site);
  if (!type) return type.error();
  const Dims& x = site.desc(0).dims;
  if (x.size() < 3) return Decline{"no spatial axes"};
  const bool instance = site.view.node().op == "InstanceNormalization";
  const int64_t groups = instance ? x[1] : site.view.get_int("num_groups");
  if (groups < 1 || x[1] % groups != 0) return Decline{"channels do not fit the groups"};
  if (site.desc(1).size() != x[1] || site.desc(2).size() != x[1]) return Decline{"scale or bias for each group"};
  const int64_t members = x[1] / groups, spatial = around(x, 2, x.size()).length;
  const NormArgs args{.type = *type,
                      .rms = false,
                      .epsilon = site.view.get_float("epsilon", 1e-5f),
                      .rows = x[0] * groups,
                      .length = members * spatial,
                      .period = groups,
                      .channels = members,
                      .inner = spatial};
  return norm_step(site, args, {.scale = 1, .bias = 2});
}

Expected<PlannedStep> plan_stored(const Site& site) {
  const NodeView& view = site.view;
  if (view.get_int("training_mode", 0) != 0 || view.node().outputs().size() > 1) return Decline{"training"};
  if (view.get_int("spatial", 1) != 1 || (view.opset() < 7 && view.get_int("is_test", 0) == 0))
    return Decline{"training"};
  const TensorDesc& x = site.desc(0);
  const auto type = float_of(x.dtype);
  if (!type) return type.error();
  if (x.dims.size() < 2 || !is_countable(x)) return Decline{"no channels"};
  for (int i = 1; i < 5; ++i) {
    if (site.desc(i).dims != Dims{x.dims[1]}) return Decline{"statistics do not fit"};
    const DType own = site.desc(i).dtype;
    if ((own != DType::kF32 && own != x.dtype) || own != site.desc(i % 2 ? i : i - 1).dtype)
      return Decline{"statistics of another type"};
  }
  PlannedStep step{.out = {x}};
  step.in_place = 0;
  const bool narrow_scale = site.desc(1).dtype != DType::kF32, narrow_statistics = site.desc(3).dtype != DType::kF32;
  step.run = [=, type = *type, epsilon = view.get_float("epsilon", 1e-5f), count = x.size(), channels = x.dims[1],
              inner = around(x.dims, 2, x.dims.size()).length](const Buffers& b) {
    launch(b, &Kernels::channel_norm,
           ChannelNormArgs{type, epsilon, count, channels, inner, b.in<void>(0), b.in<void>(1), b.in<void>(2),
                           b.in<void>(3), b.in<void>(4), b.out<void>(0), narrow_scale, narrow_statistics});
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "LayerNormalization", .plan = plan_rows},
    {.domain = "", .op = "RMSNormalization", .plan = plan_rows},
    {.domain = "", .op = "SimplifiedLayerNormalization", .plan = plan_rows},
    {.domain = "com.microsoft", .op = "SkipLayerNormalization", .plan = plan_skip},
    {.domain = "com.microsoft", .op = "SkipSimplifiedLayerNormalization", .plan = plan_skip},
    {.domain = "", .op = "InstanceNormalization", .plan = plan_groups},
    {.domain = "", .op = "GroupNormalization", .plan = plan_groups},
    {.domain = "", .op = "BatchNormalization", .plan = plan_stored},
};

}  // namespace

std::span<const Kernel> norm_kernels() { return kKernels; }

}  // namespace mlopt::gpu
