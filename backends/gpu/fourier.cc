// DFT of a constant length, by its definition: each number of the spectrum is a sum, in double, so that imaginary parts
// that are none stay so. STFT comes to this by core/rewrite/lower/stft.cc.
#include "core/ir/fourier.h"

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

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  const auto type = float_of(x.dtype);
  if (!type) return type.error();
  const auto f = fourier_of(site.view, x.dims);
  if (!f) return f.error();
  if (f->length > kLongest) return Decline{"its length"};
  const Middle m = around(x.dims, f->axis, f->axis + 1);
  DftArgs args{.type = *type,
               .inverse = f->inverse,
               .mirrored = f->mirrored,
               .outer = m.outer,
               .in_count = f->in_count,
               .out_count = f->out_count,
               .inner = m.inner / f->in_parts,
               .in_parts = f->in_parts,
               .out_parts = f->out_parts,
               .length = f->length,
               .turns = nullptr,
               .in = nullptr,
               .out = nullptr};
  TensorDesc out = x;
  out.dims[f->axis] = f->out_count;
  out.dims.back() = f->out_parts;
  if (!is_countable(x) || !is_countable(out)) return Decline{"more elements than kernels count"};
  PlannedStep step{.out = {out}};
  step.packed = {1, 2};
  step.run = [args, turns = turns_of(f->length, f->inverse)](const Buffers& b) {
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
