#include "backends/cpu/broadcast.h"

namespace mlopt::cpu {

Expected<Dims> memory_dims(const TensorDesc& operand, const TensorDesc& out) {
  TensorDesc padded{operand.dtype, Dims(out.dims.size() - operand.dims.size(), 1), out.layout};
  padded.dims.insert(padded.dims.end(), operand.dims.begin(), operand.dims.end());
  if (padded.layout == operand.layout || padded.is_any_layout()) return padded.memory_dims();
  return Decline{"an operand lies in another order"};
}

Expected<Operands> operands_of(const Site& site, int first, int second, DType type) {
  if (site.view.has("broadcast") || site.view.has("axis")) return Decline{"broadcasting by attribute"};
  const TensorDesc &a = site.desc(first), &b = site.desc(second);
  if (a.dtype != b.dtype) return Decline{"two types"};
  TensorDesc out{type, broadcast(a.dims, b.dims), site.layout};
  if (out.dims.size() < 3) out.layout = mlopt::Layout::kRowMajor;
  const auto left = memory_dims(a, out), right = memory_dims(b, out);
  if (!left || !right) return left ? right.error() : left.error();
  const int in_place = type != a.dtype ? -1 : a.dims == out.dims ? first : b.dims == out.dims ? second : -1;
  return Operands{out, paired(out.memory_dims(), *left, *right), in_place};
}

}  // namespace mlopt::cpu
