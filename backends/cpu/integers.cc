// Arithmetic of two operands of integers or float64 under NumPy's broadcasting. Integers wrap.
#include <functional>
#include <type_traits>

#include "backends/cpu/arithmetic.h"
#include "backends/cpu/pairwise.h"
#include "core/base/error.h"

namespace mlopt::cpu {
namespace {

using Run = std::function<void(const Buffers&)>;

/// fn of integers as unsigned ones, which may overflow.
template <class T, class Fn>
Run wrapping(const Paired& p, const Fn& fn) {
  if constexpr (std::is_integral_v<T>) return pairwise<std::make_unsigned_t<T>, std::make_unsigned_t<T>>(p, fn);
  return pairwise<T, T>(p, fn);
}

/// Rounds integers towards zero. Throws Error{kBadInput} for one that is divided by zero.
template <class T>
Run division(const Paired& p) {
  return pairwise<T, T>(p, [](T a, T b) -> T {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) input_error("integer division by zero");
      if (b == -1) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));  // the least one has no negative
    }
    return a / b;
  });
}

template <class T>
Run runner(Arithmetic op, const Paired& p) {
  switch (op) {
    case Arithmetic::kAdd:
      return wrapping<T>(p, [](auto a, auto b) { return a + b; });
    case Arithmetic::kSub:
      return wrapping<T>(p, [](auto a, auto b) { return a - b; });
    case Arithmetic::kMul:
      return wrapping<T>(p, [](auto a, auto b) { return a * b; });
    case Arithmetic::kDiv:
      return division<T>(p);
    case Arithmetic::kMax:
      return pairwise<T, T>(p, [](T a, T b) { return a > b || a != a ? a : b; });
    case Arithmetic::kMin:
      return pairwise<T, T>(p, [](T a, T b) { return a < b || a != a ? a : b; });
    case Arithmetic::kPRelu:
      break;
  }
  return nullptr;
}

}  // namespace

Run integer_arithmetic(DType type, Arithmetic op, const Paired& p) {
  if (type == DType::kI64) return runner<int64_t>(op, p);
  if (type == DType::kI32) return runner<int32_t>(op, p);
  if (type == DType::kF64) return runner<double>(op, p);
  return nullptr;
}

}  // namespace mlopt::cpu
