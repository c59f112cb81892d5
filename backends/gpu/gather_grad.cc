// mlopt.GatherGrad: each slice of dy added where it was taken from.
#include "backends/gpu/kernels.h"
#include "backends/gpu/places.h"

namespace mlopt::gpu {
namespace {

Expected<PlannedStep> plan(const Site& site) {
  constexpr int64_t kMostPlaces = int64_t{1} << 18;  // each looks at all others
  const TensorDesc &places = site.desc(0), &grad = site.desc(1);
  const auto wide = has_wide_places(places);
  const auto type = float_of(grad.dtype);
  if (!wide || !type) return wide ? type.error() : wide.error();
  TensorDesc out{grad.dtype, site.view.get_ints("shape")};
  if (out.dims.empty() || !is_countable(out) || !is_countable(grad)) return Decline{"more elements than kernels count"};
  const auto axis = normalize_axis(site.view.get_int("axis", 0), static_cast<int64_t>(out.dims.size()));
  const Middle m = around(out.dims, static_cast<size_t>(axis));
  if (grad.size() != m.outer * places.size() * m.inner) return Decline{"dy does not fit shape and indices"};
  if (places.size() > kMostPlaces || out.size() == 0 || grad.size() == 0) return Decline{"too many places, or none"};
  GatherGradArgs args{*type, *wide, m.outer, m.length, m.inner, places.size(), nullptr, nullptr, nullptr, nullptr};
  PlannedStep step{.out = {std::move(out)}};
  step.scratch_bytes = 2 * static_cast<size_t>(places.size()) * sizeof(int32_t);
  step.run = [args](const Buffers& b) {
    GatherGradArgs now = args;
    now.places = b.in<void>(0);
    now.grad = b.in<void>(1);
    now.lists = reinterpret_cast<int32_t*>(b.scratch);
    now.out = b.out<void>(0);
    launch(b, &Kernels::gather_grad, now);
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "mlopt", .op = "GatherGrad", .plan = plan}};

}  // namespace

std::span<const Kernel> gather_grad_kernels() { return kKernels; }

}  // namespace mlopt::gpu
