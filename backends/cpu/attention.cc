// Attention, where it is softmax(scale Q K^T + mask) V. Attribute hidden_are_nan, which is none of the standard's,
// tells that it was com.microsoft's.
#include <algorithm>
#include <cmath>

#include "backends/cpu/attention_plan.h"
#include "backends/cpu/kernels.h"
#include "core/ir/key_window.h"

namespace mlopt::cpu {
namespace {

enum Input { kQuery, kKey, kValue, kMask };

/// The size of the operands, each [batch, heads, rows, size] or, with its heads side by side, [batch, rows, heads *
/// size].
Expected<AttentionShape> shape_of(const Site& site) {
  const bool rows_first = site.desc(kQuery).dims.size() == 3;
  const int64_t heads[] = {site.view.get_int("q_num_heads", 0), site.view.get_int("kv_num_heads", 0)};
  std::array<Dims, 3> d;
  for (int i = kQuery; i <= kValue; ++i) {
    const Dims& dims = site.desc(i).dims;
    if (dims.size() != (rows_first ? 3 : 4)) return Decline{"heads are not an axis"};
    const int64_t n = heads[i > 0];
    if (rows_first && (n < 1 || dims[2] % n != 0)) return Decline{"heads do not divide the rows"};
    d[static_cast<size_t>(i)] = rows_first ? Dims{dims[0], n, dims[1], dims[2] / n} : dims;
  }
  const auto& [q, k, v] = d;
  if (k[0] != q[0] || v[0] != q[0] || k[1] < 1 || q[1] % k[1] != 0 || v[1] != k[1] || k[2] != v[2] || k[3] != q[3])
    return Decline{"queries, keys and values do not fit together"};
  AttentionShape s{q[0], q[1], k[1], q[2], k[2], q[3], v[3]};
  s.rows_first = s.keys_first = rows_first;
  s.cap = std::max(0.0F, site.view.get_float("softcap", 0));
  s.scale = site.view.get_float("scale", static_cast<float>(1 / std::sqrt(static_cast<double>(q[3]))));
  return s;
}

Expected<PlannedStep> plan(const Site& site) {
  const NodeView& view = site.view;
  for (const auto& desc : site.in)
    if (desc && desc->dtype != DType::kF32) return Decline{"not float32"};
  for (int i = kMask + 1; i < static_cast<int>(site.in.size()); ++i)
    if (site.has(i)) return Decline{"earlier keys or lengths are given"};
  if (view.node().outputs().size() > 1) return Decline{"more than the result is wanted"};
  if (!key_window(view).is_open()) return Decline{"keys are hidden"};
  auto shape = shape_of(site);
  if (!shape) return shape.error();
  AttentionShape& s = *shape;
  const bool mask = site.has(kMask);
  if (mask) {
    const auto strides = mask_strides(site.desc(kMask).dims, s);
    if (!strides) return strides.error();
    s.mask = *strides;
    s.hidden_are_nan = view.get_int("hidden_are_nan", 0) != 0;
  }
  const auto plan = std::make_shared<const AttentionPlan>(s, site.context.threads);
  PlannedStep step{.out = {{DType::kF32, s.rows_first ? Dims{s.batch, s.queries, s.heads * s.value_depth}
                                                      : Dims{s.batch, s.heads, s.queries, s.value_depth}}}};
  step.scratch_bytes = plan->workspace_bytes();
  step.run = [plan, mask](const Buffers& b) {
    plan->run({b.in<float>(kQuery), b.in<float>(kKey), b.in<float>(kValue), mask ? b.in<float>(kMask) : nullptr,
               b.out<float>(0)},
              b.scratch);
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "Attention", .plan = plan}};

}  // namespace

std::span<const Kernel> attention_kernels() { return kKernels; }

}  // namespace mlopt::cpu
