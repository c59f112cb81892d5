#include <cmath>
#include <type_traits>

#include "backends/reference/kernels.h"
#include "backends/reference/map.h"

namespace mlopt::reference {
namespace {

/// -x without overflow for the smallest integer.
template <class T>
T negated(T x) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x));
  else
    return -x;
}

template <class T>
T magnitude(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fabs(x);
  else if constexpr (std::is_signed_v<T>)
    return x < 0 ? negated(x) : x;
  else
    return x;
}

template <class T>
T sign(T x) {
  if (x == T{0} || x != x) return x;
  if constexpr (std::is_signed_v<T>)
    return x < T{0} ? T{-1} : T{1};
  else
    return T{1};
}

/// Halves go to the even neighbour, whatever the rounding mode of the thread.
template <class T>
T round_half_even(T x) {
  const T below = std::floor(x);
  const T rest = x - below;
  if (rest < T{0.5}) return std::copysign(below, x);
  if (rest > T{0.5}) return std::copysign(below + 1, x);
  if (rest != T{0.5}) return x;  // NaN and infinities
  return std::copysign(std::fmod(below, T{2}) == 0 ? below : below + 1, x);
}

void logical_not(Call& call) {
  const Tensor& x = call.in(0);
  if (x.dtype() != DType::kBool) wrong_type(call, x.dtype());
  const std::byte* in = x.raw();
  Tensor out(DType::kBool, x.dims());
  bool* o = out.mutable_data<bool>();
  for (int64_t i = 0; i < x.size(); ++i) o[i] = in[i] == std::byte{0};
  call.set(0, std::move(out));
}

void bitwise_not(Call& call) {
  const Tensor& x = call.in(0);
  if (!is_integer(x.dtype())) wrong_type(call, x.dtype());
  Tensor out(x.dtype(), x.dims());
  std::byte* o = out.mutable_raw();
  for (size_t i = 0; i < x.bytes(); ++i) o[i] = ~x.raw()[i];
  call.set(0, std::move(out));
}

template <class Fn>
void test_floats(Call& call, const Fn& fn) {
  const Tensor& x = call.in(0);
  with_float(call, x.dtype(), [&](auto tag) {
    using T = decltype(tag);
    call.set(0, map<bool, T>(widened(x), fn));
  });
}

void is_nan(Call& call) {
  test_floats(call, [](auto x) { return std::isnan(x); });
}

void is_inf(Call& call) {
  const bool negative = call.view.get_int("detect_negative", 1) != 0;
  const bool positive = call.view.get_int("detect_positive", 1) != 0;
  test_floats(call, [=](auto x) { return std::isinf(x) && (x < 0 ? negative : positive); });
}

constexpr Kernel kKernels[] = {
    {"", "Abs", number_op<[](auto x) { return magnitude(x); }>},
    {"", "Acos", float_op<[](auto x) { return std::acos(x); }>},
    {"", "Acosh", float_op<[](auto x) { return std::acosh(x); }>},
    {"", "Asin", float_op<[](auto x) { return std::asin(x); }>},
    {"", "Asinh", float_op<[](auto x) { return std::asinh(x); }>},
    {"", "Atan", float_op<[](auto x) { return std::atan(x); }>},
    {"", "Atanh", float_op<[](auto x) { return std::atanh(x); }>},
    {"", "BitwiseNot", bitwise_not},
    {"", "Ceil", float_op<[](auto x) { return std::ceil(x); }>},
    {"", "Cos", float_op<[](auto x) { return std::cos(x); }>},
    {"", "Cosh", float_op<[](auto x) { return std::cosh(x); }>},
    {"", "Erf", float_op<[](auto x) { return std::erf(x); }>},
    {"", "Exp", float_op<[](auto x) { return std::exp(x); }>},
    {"", "Floor", float_op<[](auto x) { return std::floor(x); }>},
    {"", "IsInf", is_inf},
    {"", "IsNaN", is_nan},
    {"", "Log", float_op<[](auto x) { return std::log(x); }>},
    {"", "Neg", number_op<[](auto x) { return negated(x); }>},
    {"", "Not", logical_not},
    {"", "Reciprocal", float_op<[](auto x) { return 1 / x; }>},
    {"", "Round", float_op<[](auto x) { return round_half_even(x); }>},
    {"", "Sign", number_op<[](auto x) { return sign(x); }>},
    {"", "Sin", float_op<[](auto x) { return std::sin(x); }>},
    {"", "Sinh", float_op<[](auto x) { return std::sinh(x); }>},
    {"", "Sqrt", float_op<[](auto x) { return std::sqrt(x); }>},
    {"", "Tan", float_op<[](auto x) { return std::tan(x); }>},
};

}  // namespace

std::span<const Kernel> unary_kernels() { return kKernels; }

}  // namespace mlopt::reference
