#pragma once
#include <string>
#include <utility>

#include "core/exec/kernel.h"
#include "core/tensor/cast.h"
#include "core/tensor/tensor.h"

namespace mlopt::reference {

/// The type in which elements of `type` are computed: float64 as it is, every narrower float in float32, uint64 as it
/// is, every other integer and bool in int64 (which wraps to the narrow type when cast back). Other types: undefined.
inline DType compute_type(DType type) {
  if (type == DType::kF64 || type == DType::kU64) return type;
  if (is_float(type)) return DType::kF32;
  return is_integer(type) || type == DType::kBool ? DType::kI64 : DType::kUndefined;
}

/// `tensor` as it is when it has `type` already, else converted.
inline Tensor as(const Tensor& tensor, DType type) { return tensor.dtype() == type ? tensor : cast(tensor, type); }
/// `tensor` in its compute type.
inline Tensor widened(const Tensor& tensor) { return as(tensor, compute_type(tensor.dtype())); }

/// Throws Error{kBadInput}: "`what`" at the call's node.
[[noreturn]] void fail(const Call& call, const std::string& what);
/// Throws unless `ok`.
inline void require(const Call& call, bool ok, const char* what) {
  if (!ok) fail(call, what);
}
/// Throws Error{kBadInput}: the operator does not take elements of `type`.
[[noreturn]] void wrong_type(const Call& call, DType type);
/// `axis` counted from the front; throws naming the node when it is outside [-rank, rank).
int axis_of(const Call& call, int64_t axis, int64_t rank);

/// fn(T{}) with T double for float64 and float for every other float type; any other type is an error.
template <class Fn>
decltype(auto) with_float(const Call& call, DType type, Fn&& fn) {
  if (type == DType::kF64) return fn(double{});
  if (is_float(type)) return fn(float{});
  wrong_type(call, type);
}

/// fn(T{}) with T the C++ type of compute_type(type): double, float, uint64_t or int64_t.
template <class Fn>
decltype(auto) with_number(const Call& call, DType type, Fn&& fn) {
  switch (compute_type(type)) {
    case DType::kF64:
      return fn(double{});
    case DType::kF32:
      return fn(float{});
    case DType::kU64:
      return fn(uint64_t{});
    case DType::kI64:
      return fn(int64_t{});
    default:
      wrong_type(call, type);
  }
}

/// fn(T{}) with T the unsigned integer as wide as one element, for kernels that only move elements: 1, 2, 4, 8 bytes,
/// or std::pair<uint64_t, uint64_t> for complex128. Sub-byte types and strings are the caller's business (see
/// unpack()).
template <class Fn>
decltype(auto) with_bytes(const Call& call, DType type, Fn&& fn) {
  switch (bits(type)) {
    case 8:
      return fn(uint8_t{});
    case 16:
      return fn(uint16_t{});
    case 32:
      return fn(uint32_t{});
    case 64:
      return fn(uint64_t{});
    case 128:
      return fn(std::pair<uint64_t, uint64_t>{});
    default:
      wrong_type(call, type);
  }
}

/// The first element of input i as double; `otherwise` when it is omitted. Throws when it has no or several elements.
double number_in(const Call& call, int i, double otherwise);
/// The same as an integer.
int64_t int_in(const Call& call, int i, int64_t otherwise);

/// A view of `tensor` as [outer, axis, inner].
struct AxisView {
  int64_t outer = 1, length = 1, inner = 1;
};
AxisView around_axis(const Dims& dims, int axis);

}  // namespace mlopt::reference
