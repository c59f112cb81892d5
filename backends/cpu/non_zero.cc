// NonZero.
#include <algorithm>
#include <cstring>

#include "backends/cpu/at_run.h"
#include "backends/cpu/kernels.h"

namespace mlopt::cpu {
namespace {

/// fn(i) for the elements of [begin, end) that are not 0, in order.
template <class T, class Fn>
void each_nonzero(const T* x, int64_t begin, int64_t end, const Fn& fn) {
  int64_t i = begin;
  if constexpr (sizeof(T) == 1)
    for (uint64_t eight = 0; i + 8 <= end; i += 8) {
      std::memcpy(&eight, x + i, 8);
      for (int64_t k = i; eight != 0 && k < i + 8; ++k)
        if (x[k] != 0) fn(k);
    }
  for (; i < end; ++i)
    if (x[i] != 0) fn(i);
}

/// Row `axis` of the output has the places along that axis.
template <class T>
void find(const Tensor& data, Call& call) {
  const auto* x = reinterpret_cast<const T*>(data.raw());
  const int64_t size = data.size(), line = data.dims().back(), rank = data.rank();
  const int64_t count = std::count_if(x, x + size, [](T value) { return value != 0; });
  int64_t* next = call.make(0, DType::kI64, {rank, count}).mutable_data<int64_t>();
  Dims at(data.dims().size() - 1, 0);
  for (int64_t first = 0; first < size; first += line) {
    int64_t* last_axis = next + (rank - 1) * count;
    const int64_t* before = last_axis;
    each_nonzero(x, first, first + line, [&](int64_t i) { *last_axis++ = i - first; });
    for (size_t axis = 0; axis < at.size(); ++axis)
      std::fill_n(next + static_cast<int64_t>(axis) * count, last_axis - before, at[axis]);
    next += last_axis - before;
    for (size_t axis = at.size(); axis-- > 0; at[axis] = 0)
      if (++at[axis] < data.dims()[axis]) break;
  }
}

bool run(Call& call) {
  const Tensor& data = call.in(0);
  if (!call.wants(0) || data.rank() == 0 || data.size() == 0) return false;
  switch (data.dtype()) {
    case DType::kBool:
    case DType::kU8:
      find<uint8_t>(data, call);
      return true;
    case DType::kF32:
      find<float>(data, call);
      return true;
    case DType::kI32:
      find<int32_t>(data, call);
      return true;
    case DType::kI64:
      find<int64_t>(data, call);
      return true;
    default:
      return false;
  }
}

Expected<Step> compile(const NodeView& view, const CompileContext& context) { return at_run(view, context, run); }

constexpr Kernel kKernels[] = {{.domain = "", .op = "NonZero", .compile = compile}};

}  // namespace

std::span<const Kernel> non_zero_kernels() { return kKernels; }

}  // namespace mlopt::cpu
