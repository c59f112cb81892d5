#include "backends/reference/compute.h"
#include "backends/reference/kernels.h"
#include "backends/reference/resize_map.h"

namespace mlopt::reference {
namespace {

/// The transpose of a map of `length` positions: taps of the outputs that each input went to.
AxisFilter transposed(const AxisFilter& filter, int64_t length) {
  AxisFilter back;
  back.taps.resize(static_cast<size_t>(length));
  for (size_t o = 0; o < filter.taps.size(); ++o)
    for (const AxisFilter::Tap& tap : filter.taps[o])
      back.taps[static_cast<size_t>(tap.place)].push_back({static_cast<int64_t>(o), tap.weight});
  return back;
}

/// Inputs: dy, and roi, scales and sizes as Resize of the newest opset has them; its attributes, and the `shape` of its
/// input.
void resize_grad(Call& call) {
  const Dims shape = call.view.get_ints("shape");
  // What is too large is refused here, before its axes are mapped.
  if (Tensor(call.in(0).dtype(), shape).size() == 0) return call.set(0, Tensor(call.in(0).dtype(), shape));
  Dims made = shape;
  const std::vector<ResizedAxis> axes = resized_axes(call, shape);
  for (const ResizedAxis& axis : axes) {
    made[static_cast<size_t>(axis.axis)] = axis.to;
    require(call, axis.from > 0 && axis.scale > 0, "an axis is empty or its scale is not positive");
  }
  require(call, call.in(0).dims() == made, "dy does not fit shape, scales and sizes");
  const ResizeOptions options = resize_options(call);
  if (!is_float(call.in(0).dtype())) wrong_type(call, call.in(0).dtype());
  Tensor dx = widened(call.in(0));
  for (const ResizedAxis& axis : axes)
    if (!is_unchanged(options, axis))
      dx = resampled(dx, axis.axis, transposed(resize_filter(call, options, axis), axis.from));
  call.set(0, as(dx, call.in(0).dtype()));
}

constexpr Kernel kKernels[] = {{"mlopt", "ResizeGrad", resize_grad}};

}  // namespace

std::span<const Kernel> resize_grad_kernels() { return kKernels; }

}  // namespace mlopt::reference
