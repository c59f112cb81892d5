// DFT of a constant length, by its definition: each number of the spectrum is a sum, in double, so that imaginary parts
// that are none stay so. STFT comes to this by core/rewrite/lower/stft.cc.
#include <cmath>
#include <numbers>

#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"

namespace mlopt::gpu {
namespace {

constexpr int64_t kLongest = int64_t{1} << 20;

std::shared_ptr<Brought> turns_of(int64_t length, bool inverse) {
  std::vector<double> turns;
  for (int64_t i = 0; i < length; ++i) {
    const double angle = (inverse ? 2 : -2) * std::numbers::pi * static_cast<double>(i) / static_cast<double>(length);
    turns.insert(turns.end(), {std::cos(angle), std::sin(angle)});
  }
  return brought(turns);
}

/// Of the input; declines what is not constant.
Expected<size_t> axis_of(const NodeView& view, const Dims& dims) {
  const auto given = view.opset() < 20 ? std::optional(std::vector{view.get_int("axis", 1)}) : view.ints("", 2, {-2});
  if (!given || given->size() != 1) return Decline{"its axis is not constant"};
  const auto axis = static_cast<size_t>(normalize_axis(given->front(), static_cast<int64_t>(dims.size())));
  if (axis + 1 >= dims.size()) return Decline{"the last axis holds the parts of numbers"};
  return axis;
}

/// How many numbers are transformed and made, of how many parts.
Expected<DftArgs> lengths_of(const NodeView& view, const Dims& x, size_t axis) {
  DftArgs args{};
  const bool onesided = view.get_int("onesided", 0) != 0;
  args.inverse = view.get_int("inverse", 0) != 0;
  args.mirrored = args.inverse && onesided;
  args.in_count = x[axis];
  args.in_parts = x.back();
  const auto length = view.ints("", 1, {args.mirrored ? 2 * (args.in_count - 1) : args.in_count});
  if (!length || length->size() != 1) return Decline{"its length is not constant"};
  args.length = length->front();
  if (args.length < 1 || args.length > kLongest || args.in_parts < 1 || args.in_parts > 2)
    return Decline{"its length, or the parts of its numbers"};
  if (onesided && !args.inverse && args.in_parts == 2) return Decline{"one half of a spectrum that has two"};
  args.out_count = onesided && !args.inverse ? args.length / 2 + 1 : args.length;
  args.out_parts = args.mirrored ? 1 : 2;
  return args;
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto type = float_of(x.dtype);
  if (!type) return type.error();
  if (x.dims.size() < 2) return Decline{"no axis"};
  const auto axis = axis_of(site.view, x.dims);
  if (!axis) return axis.error();
  auto args = lengths_of(site.view, x.dims, *axis);
  if (!args) return args.error();
  const Middle m = around(x.dims, *axis, *axis + 1);
  args->type = *type;
  args->outer = m.outer;
  args->inner = m.inner / args->in_parts;
  TensorDesc out = x;
  out.dims[*axis] = args->out_count;
  out.dims.back() = args->out_parts;
  if (!is_countable(x) || !is_countable(out)) return Decline{"more elements than kernels count"};
  PlannedStep step{.out = {out}};
  step.packed = {1, 2};
  step.run = [args = *args, turns = turns_of(args->length, args->inverse)](const Buffers& b) {
    DftArgs now = args;
    now.turns = reinterpret_cast<const double*>(turns->at(queue_of(b)));
    now.in = b.in<void>(0);
    now.out = b.out<void>(0);
    launch(b, &Kernels::dft, now);
  };
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "DFT", .plan = plan}};

}  // namespace

std::span<const Kernel> fourier_kernels() { return kKernels; }

}  // namespace mlopt::gpu
