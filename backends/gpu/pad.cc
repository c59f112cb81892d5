// Pad with a constant: a fill, then the input where it belongs; or with what the input itself continues by.
#include <algorithm>
#include <map>
#include <numeric>

#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"

namespace mlopt::gpu {
namespace {

/// The pads of all axes, those before and then those behind; the output's shape is checked.
Expected<Dims> pads_of(const Site& site, const Dims& out) {
  const Dims& x = site.desc(0).dims;
  const size_t rank = x.size();
  const auto given = site.view.ints("pads", 1);
  Dims every(rank);
  std::iota(every.begin(), every.end(), 0);
  const auto axes = site.view.ints("", 3, every);
  if (!given || !axes || given->size() != 2 * axes->size()) return Decline{"pads or axes are not constant"};
  Dims pads(2 * rank, 0);
  for (size_t i = 0; i < axes->size(); ++i) {
    const auto axis = static_cast<size_t>(normalize_axis((*axes)[i], static_cast<int64_t>(rank)));
    pads[axis] = (*given)[i];
    pads[axis + rank] = (*given)[i + axes->size()];
  }
  for (size_t k = 0; k < rank; ++k)
    if (out.size() != rank || x[k] + pads[k] + pads[k + rank] != out[k]) return Decline{"its shape is not known"};
  return pads;
}

Expected<PlannedStep> plan_continued(const Site& site, const Dims& pads, const Dims& out) {
  static const std::map<std::string_view, Beyond> kKnown{
      {"edge", Beyond::kEdge}, {"reflect", Beyond::kReflect}, {"wrap", Beyond::kWrap}};
  const TensorDesc& x = site.desc(0);
  const auto beyond = kKnown.find(site.view.get_string("mode", "constant"));
  const size_t rank = x.dims.size();
  if (beyond == kKnown.end() || rank < 1 || rank > ContinueArgs::kAxes) return Decline{"an unknown mode"};
  if (!is_countable(x) || !is_countable({x.dtype, out}) || x.size() == 0 || element_count(out) == 0)
    return Decline{"no elements, or more than kernels count"};
  ContinueArgs args{};
  args.width = bits(x.dtype) / 8;
  args.beyond = beyond->second;
  args.rank = static_cast<int>(rank);
  args.count = element_count(out);
  for (size_t k = 0; k < rank; ++k) {
    const size_t from_last = rank - 1 - k;
    if (std::abs(pads[k]) > (1 << 29) || x.dims[k] > (1 << 29)) return Decline{"more elements than kernels count"};
    args.out_dims[from_last] = Divider(out[k]);
    args.lengths[from_last] = static_cast<int32_t>(x.dims[k]);
    args.before[from_last] = static_cast<int32_t>(pads[k]);
  }
  PlannedStep step{.out = {{x.dtype, out}}};
  for (int i = 1; i < static_cast<int>(site.in.size()); ++i) step.packed.push_back(i);
  step.run = [args](const Buffers& b) {
    ContinueArgs now = args;
    now.in = b.in<void>(0);
    now.out = b.out<void>(0);
    launch(b, &Kernels::continued, now);
  };
  return step;
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const size_t rank = x.dims.size();
  const auto width = width_of(x.dtype);
  if (!width) return width.error();
  const auto out = site.view.node().output(0)->type.static_dims();
  if (!out || site.view.opset() < 11) return Decline{"its shape is not known"};
  const auto pads = pads_of(site, *out);
  if (!pads) return pads.error();
  if (site.view.get_string("mode", "constant") != "constant") return plan_continued(site, *pads, *out);
  if (site.has(2) && site.desc(2).dtype != x.dtype) return Decline{"the value is of another type"};
  Dims dims = x.dims;
  const Dims from = row_major_strides(x.dims), to = row_major_strides(*out);
  int64_t from_offset = 0, to_offset = 0;
  for (size_t k = 0; k < rank; ++k) {
    const int64_t begin = (*pads)[k], end = (*pads)[k + rank];
    dims[k] += std::min<int64_t>(begin, 0) + std::min<int64_t>(end, 0);
    if (dims[k] < 1) return Decline{"nothing of the input is left"};
    (begin < 0 ? from_offset : to_offset) += std::abs(begin) * (begin < 0 ? from : to)[k];
  }
  const auto walk = walk_over<2>(dims, {from, to});
  if (!walk) return walk.error();
  PlannedStep step{.out = {{x.dtype, *out}}};
  for (const int i : {1, 3})
    if (site.has(i)) step.packed.push_back(i);
  step.run = [width = *width, walk = *walk, value = site.has(2), count = element_count(*out),
              from_offset = from_offset * *width, to_offset = to_offset * *width](const Buffers& b) {
    launch(b, &Kernels::fill, FillArgs{width, value ? b.in<void>(2) : nullptr, b.out<void>(0), count});
    launch(b, &Kernels::copy, CopyArgs{width, walk, b.in<std::byte>(0) + from_offset, b.out<std::byte>(0) + to_offset});
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "Pad", .plan = plan}};

}  // namespace

std::span<const Kernel> pad_kernels() { return kKernels; }

}  // namespace mlopt::gpu
