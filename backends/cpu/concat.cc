// Concat of tensors of one type, whose elements may be of any size in whole bytes.
#include <cstring>

#include "backends/cpu/kernels.h"
#include "backends/cpu/middle.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

/// Bytes that input i gives to each row of the output.
struct Parts {
  std::vector<int> inputs;
  std::vector<size_t> bytes;
  size_t row = 0;
};

void concat(const Parts& parts, int64_t rows, const Buffers& b) {
  constexpr int64_t kGrain = 65536;  // bytes below which a second thread costs more than it brings
  parallel_for(rows, std::max<int64_t>(1, kGrain / static_cast<int64_t>(parts.row)), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      std::byte* y = b.out<std::byte>(0) + static_cast<size_t>(row) * parts.row;
      for (size_t i = 0; i < parts.inputs.size(); ++i) {
        const std::byte* x = b.in<std::byte>(parts.inputs[i]) + static_cast<size_t>(row) * parts.bytes[i];
        if (x != y) std::memcpy(y, x, parts.bytes[i]);
        y += parts.bytes[i];
      }
    }
  });
}

Expected<PlannedStep> plan(const Site& site) {
  if (site.in.empty() || !site.has(0)) return Decline{"nothing to join"};
  TensorDesc out = site.desc(0);
  const auto rank = static_cast<int64_t>(out.dims.size());
  if (rank == 0 || bits(out.dtype) < 8) return Decline{"scalars, or elements of less than a byte"};
  const auto axis = static_cast<size_t>(normalize_axis(site.view.get_int("axis", 1), rank));
  out.dims[axis] = 0;
  Parts parts;
  std::vector<int64_t> offsets;
  for (int i = 0; i < static_cast<int>(site.in.size()); ++i) {
    TensorDesc part = site.desc(i);
    if (part.dims.size() != out.dims.size()) return Decline{"the inputs differ in rank"};
    if (part.is_any_layout()) part.layout = out.layout;
    const int64_t length = part.dims[axis];
    const auto inner = around(part.memory_dims(), memory_axis(part, axis)).inner;
    part.dims[axis] = 0;
    const int64_t joined = out.dims[axis];
    out.dims[axis] = 0;
    if (part != out) return Decline{"the inputs do not fit together"};
    out.dims[axis] = joined + length;
    parts.inputs.push_back(i);
    parts.bytes.push_back(packed_bytes(out.dtype, length * inner));
    offsets.push_back(static_cast<int64_t>(parts.row));
    parts.row += parts.bytes.back();
  }
  const int64_t rows = around(out.memory_dims(), memory_axis(out, axis)).outer;
  PlannedStep step{.out = {std::move(out)}};
  if (rows == 1) step.parts = std::move(offsets);
  step.run = [parts = std::move(parts), rows](const Buffers& b) { concat(parts, rows, b); };
  return step;
}

Bf16Rule rule(const Node&) { return {.passes = ~0u}; }

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Concat", .plan = plan, .layout = LayoutRule::kFollows, .bf16 = rule}};

}  // namespace

std::span<const Kernel> concat_kernels() { return kKernels; }

}  // namespace mlopt::cpu
