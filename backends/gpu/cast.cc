// Cast and CastLike between the types that kernels know.
#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"

namespace mlopt::gpu {
namespace {

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  TensorDesc out = x;
  const bool like = site.view.node().op == "CastLike";
  out.dtype = like ? site.desc(1).dtype : static_cast<DType>(site.view.get_int("to"));
  const auto from = elem_of(x.dtype), to = elem_of(out.dtype);
  if (!from || !to) return from ? to.error() : from.error();
  if (!is_countable(x)) return Decline{"more elements than kernels count"};
  PlannedStep step{.out = {out}};
  if (like) step.packed = {1};
  if (x.dtype == out.dtype) {
    step.view_of = 0;
    return step;
  }
  step.run = [from = *from, to = *to, count = x.size()](const Buffers& b) {
    launch(b, &Kernels::cast, CastArgs{from, to, b.in<void>(0), b.out<void>(0), count});
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Cast", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "CastLike", .plan = plan},
};

}  // namespace

std::span<const Kernel> cast_kernels() { return kKernels; }

}  // namespace mlopt::gpu
