#include "backends/gpu/operand.h"

#include <algorithm>

#include "core/base/error.h"

namespace mlopt::gpu {
namespace {

constexpr int64_t kMost = (int64_t{1} << 31) - 1;

std::vector<WalkAxis> merged(std::span<const Dims> strides, const Dims& dims) {
  std::vector<WalkAxis> axes;
  for (size_t k = dims.size(); k-- > 0;) {
    if (dims[k] == 1) continue;
    WalkAxis axis{dims[k], {}};
    for (const Dims& s : strides) axis.strides.push_back(s[k]);
    const auto continues = [&] {
      for (size_t t = 0; t < strides.size(); ++t)
        if (axis.strides[t] != axes.back().strides[t] * axes.back().count) return false;
      return true;
    };
    if (!axes.empty() && continues())
      axes.back().count *= dims[k];
    else
      axes.push_back(std::move(axis));
  }
  if (axes.empty()) axes.push_back({1, std::vector<int64_t>(strides.size(), 0)});
  return axes;
}

}  // namespace

Expected<Elem> elem_of(DType type) {
  switch (type) {
    case DType::kF32:
      return Elem::kF32;
    case DType::kF16:
      return Elem::kF16;
    case DType::kBF16:
      return Elem::kBF16;
    case DType::kI8:
      return Elem::kI8;
    case DType::kU8:
      return Elem::kU8;
    case DType::kI16:
      return Elem::kI16;
    case DType::kU16:
      return Elem::kU16;
    case DType::kI32:
      return Elem::kI32;
    case DType::kU32:
      return Elem::kU32;
    case DType::kI64:
      return Elem::kI64;
    case DType::kU64:
      return Elem::kU64;
    case DType::kBool:
      return Elem::kBool;
    default:
      return Decline{"no kernels for " + std::string(name(type))};
  }
}

Expected<Elem> float_of(DType type) {
  if (type == DType::kF32 || type == DType::kF16 || type == DType::kBF16) return elem_of(type);
  return Decline{"not float32, float16 or bfloat16"};
}

Expected<Float8> float8_of(DType type) {
  if (type == DType::kF8E4M3FN) return Float8{4};
  if (type == DType::kF8E5M2) return Float8{5};
  return Decline{"no float of 8 bits that kernels know"};
}

Expected<int> width_of(DType type) {
  const int width = bits(type) / 8;
  if (width == 1 || width == 2 || width == 4 || width == 8) return width;
  return Decline{"elements of less than a byte or more than eight"};
}

bool is_countable(const TensorDesc& desc) { return desc.size() <= kMost; }

Dims broadcast_strides(const Dims& dims, const Dims& out) {
  return broadcast_strides(TensorDesc{DType::kF32, dims}, out);
}

Dims broadcast_strides(const TensorDesc& desc, const Dims& out) {
  if (broadcast(desc.dims, out) != out) input_error("an operand is larger than the result", to_string(desc.dims));
  const Dims own = desc.strides();
  Dims strides(out.size(), 0);
  for (size_t k = 0; k < own.size(); ++k)
    if (desc.dims[k] != 1) strides[out.size() - own.size() + k] = own[k];
  return strides;
}

Dims in_memory_order(Dims axes, Layout layout) {
  if (layout == Layout::kChannelsLast) std::rotate(axes.begin() + 1, axes.begin() + 2, axes.end());
  return axes;
}

Expected<std::vector<WalkAxis>> walk_axes(const Dims& dims, std::span<const Dims> strides, size_t most) {
  std::vector<WalkAxis> axes = merged(strides, dims);
  int64_t count = 1;
  for (const WalkAxis& axis : axes) {
    if (axis.count < 1) return Decline{"no elements"};
    count *= axis.count;
    for (const int64_t s : axis.strides)
      if (std::abs(s) * axis.count > kMost) return Decline{"more elements than kernels count"};
  }
  if (count > kMost) return Decline{"more elements than kernels count"};
  if (axes.size() > most) return Decline{"more axes than kernels walk"};
  return axes;
}

}  // namespace mlopt::gpu
