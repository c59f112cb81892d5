// Transpose, DepthToSpace and SpaceToDepth: views where only axes of one element move or only the layout's name
// changes, else a copy between strides.
#include <numeric>

#include "backends/cpu/kernels.h"
#include "backends/cpu/primitive.h"
#include "backends/cpu/strided.h"

namespace mlopt::cpu {
namespace {

/// Do these strides, one for each axis of `out`, address its elements where they lie?
bool lies_as(const TensorDesc& out, const Dims& strides) {
  const Dims own = out.strides();
  for (size_t axis = 0; axis < own.size(); ++axis)
    if (out.dims[axis] != 1 && own[axis] != strides[axis]) return false;
  return true;
}

Expected<PlannedStep> plan_transpose(const Site& site) {
  const TensorDesc& x = site.desc(0);
  if (!element_bytes(x.dtype)) return Decline{"elements of less than a byte"};
  Dims perm(x.dims.size());
  std::iota(perm.rbegin(), perm.rend(), 0);
  perm = site.view.get_ints("perm", perm);
  if (perm.size() != x.dims.size()) return Decline{"the permutation does not fit"};
  TensorDesc out{x.dtype, {}};
  Dims strides;
  for (const int64_t axis : perm) {
    if (axis < 0 || axis >= static_cast<int64_t>(perm.size())) return Decline{"the permutation does not fit"};
    out.dims.push_back(x.dims[static_cast<size_t>(axis)]);
    strides.push_back(x.strides()[static_cast<size_t>(axis)]);
  }
  for (const auto layout : {mlopt::Layout::kRowMajor, mlopt::Layout::kChannelsLast}) {
    out.layout = out.dims.size() < 3 ? mlopt::Layout::kRowMajor : layout;
    if (!lies_as(out, strides)) continue;
    PlannedStep step{.out = {out}};
    step.view_of = 0;
    return step;
  }
  out.layout = out.dims.size() < 3 ? mlopt::Layout::kRowMajor : site.layout;
  return plan_copy(out, out.dims, strides, out.strides());
}

/// [N, C, H, W] <-> [N, C b b, H / b, W / b]; the block is taken from (DepthToSpace) or put into the channels, before
/// or, with mode "CRD", behind the channels that remain.
Expected<PlannedStep> plan_blocks(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const bool to_space = site.view.node().op == "DepthToSpace";
  const bool behind = site.view.get_string("mode", "DCR") == "CRD";
  const int64_t block = site.view.get_int("blocksize", 0);
  if (!element_bytes(x.dtype) || x.dims.size() != 4 || block < 1 || block > 65536) return Decline{"not an image"};
  TensorDesc out{x.dtype, x.dims, site.layout};
  const auto scale = [&](size_t axis, int64_t by, bool up) {
    if (!up && out.dims[axis] % by != 0) return false;
    out.dims[axis] = up ? out.dims[axis] * by : out.dims[axis] / by;
    return true;
  };
  if (!scale(1, block * block, !to_space) || !scale(2, block, to_space) || !scale(3, block, to_space))
    return Decline{"the block does not fit"};
  const TensorDesc &deep = to_space ? x : out, &wide = to_space ? out : x;
  const int64_t channels = wide.dims[1];
  const Dims d = deep.strides(), w = wide.strides();
  // Axes: image, block's row, block's column, channel, row, column.
  const Dims dims{x.dims[0], block, block, channels, deep.dims[2], deep.dims[3]};
  const int64_t apart = behind ? d[1] : channels * d[1];
  const Dims in_deep{d[0], block * apart, apart, behind ? block * block * d[1] : d[1], d[2], d[3]};
  const Dims in_wide{w[0], w[2], w[3], w[1], block * w[2], block * w[3]};
  return to_space ? plan_copy(out, dims, in_deep, in_wide) : plan_copy(out, dims, in_wide, in_deep);
}

constexpr Kernel kKernels[] = {
    {.domain = "",
     .op = "Transpose",
     .plan = guarded<plan_transpose>,
     .layout = LayoutRule::kAny,
     .bf16 = passes_first},
    {.domain = "",
     .op = "DepthToSpace",
     .plan = guarded<plan_blocks>,
     .layout = LayoutRule::kAny,
     .bf16 = passes_first},
    {.domain = "",
     .op = "SpaceToDepth",
     .plan = guarded<plan_blocks>,
     .layout = LayoutRule::kAny,
     .bf16 = passes_first},
};

}  // namespace

std::span<const Kernel> transpose_kernels() { return kKernels; }

}  // namespace mlopt::cpu
