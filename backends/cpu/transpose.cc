// Transpose: nothing where only axes of one element move, else oneDNN's copy between strides.
#include <numeric>

#include "backends/cpu/kernels.h"
#include "backends/cpu/primitive.h"

namespace mlopt::cpu {
namespace {

/// Do the axes with more than one element stay in their order?
bool moves_nothing(const Dims& dims, const Dims& perm) {
  int64_t last = -1;
  for (const int64_t axis : perm) {
    if (dims[static_cast<size_t>(axis)] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
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
  PlannedStep step{.out = {out}};
  if (moves_nothing(x.dims, perm)) {
    step.view_of = 0;
    return step;
  }
  const auto elem = carrier(x.dtype);
  if (!elem || out.dims.size() > DNNL_MAX_NDIMS) return Decline{"oneDNN does not copy such elements"};
  const Desc from(out.dims, *elem, strides), to = plain(*elem, out.dims);
  const dnnl::reorder::primitive_desc pd(engine(), from, engine(), to, new_attr());
  auto op =
      Primitive::make<dnnl::reorder>(pd, {{DNNL_ARG_FROM, from, Source::in(0)}, {DNNL_ARG_TO, to, Source::out(0)}});
  step.scratch_bytes = op.scratch_bytes();
  step.run = [op = std::move(op)](const Buffers& b) { op.run(b); };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "Transpose", .plan = guarded<plan>}};

}  // namespace

std::span<const Kernel> transpose_kernels() { return kKernels; }

}  // namespace mlopt::cpu
