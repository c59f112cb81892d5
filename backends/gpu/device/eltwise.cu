// Functions of one number, of two, and choices between two.
#include <type_traits>

#include "backends/gpu/device/function.h"
#include "backends/gpu/device/kernels.h"

namespace mlopt::gpu {
namespace {

MLOPT_DEVICE float compute(Math fn, float x) {
  switch (fn) {
    case Math::kSin:
      return sinf(x);
    case Math::kCos:
      return cosf(x);
    case Math::kTan:
      return tanf(x);
    case Math::kAsin:
      return asinf(x);
    case Math::kAcos:
      return acosf(x);
    case Math::kAtan:
      return atanf(x);
    case Math::kSinh:
      return sinhf(x);
    case Math::kCosh:
      return coshf(x);
    case Math::kAsinh:
      return asinhf(x);
    case Math::kAcosh:
      return acoshf(x);
    case Math::kAtanh:
      return atanhf(x);
    case Math::kSign:
      return x > 0 ? 1 : x < 0 ? -1 : x;
  }
  return x;
}

MLOPT_DEVICE float power(float x, float y) { return powf(x, y); }
MLOPT_DEVICE float c_remainder(float x, float y) { return fmodf(x, y); }
template <class T>
MLOPT_DEVICE bool is_negative(T x) {
  if constexpr (std::is_unsigned_v<T>)
    return false;
  else
    return x < 0;
}
template <class T>
MLOPT_DEVICE bool is_minus_one(T x) {
  return is_negative(x) && x + 1 == 0;
}

template <class T>
MLOPT_DEVICE T power(T x, T y) {
  if (is_negative(y)) return x == 1 ? 1 : is_minus_one(x) ? (y % 2 ? x : 1) : 0;
  T result = 1;
  for (; y > 0; y /= 2, x = static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(x)))
    if (y % 2) result = static_cast<T>(static_cast<uint64_t>(result) * static_cast<uint64_t>(x));
  return result;
}
template <class T>
MLOPT_DEVICE T c_remainder(T x, T y) {
  return is_minus_one(y) ? 0 : x % y;
}

/// C's remainder with the sign of the divisor.
template <class T>
MLOPT_DEVICE T python_remainder(T x, T y) {
  const T r = c_remainder(x, y);
  return r != 0 && is_negative(r) != is_negative(y) ? r + y : r;
}

template <class T>
MLOPT_DEVICE T quotient(T x, T y) {
  return is_minus_one(y) ? static_cast<T>(0 - static_cast<uint64_t>(x)) : x / y;
}
MLOPT_DEVICE float quotient(float x, float y) { return x / y; }

MLOPT_DEVICE bool divides(Arith op) { return op == Arith::kDiv || op == Arith::kMod || op == Arith::kFMod; }

/// NaN wins, as NumPy has it.
template <class T>
MLOPT_DEVICE T larger(T x, T y) {
  return x != x || x > y ? x : y;
}
template <class T>
MLOPT_DEVICE T smaller(T x, T y) {
  return x != x || x < y ? x : y;
}

/// Sums and products of integers wrap.
template <class T, class Fn>
MLOPT_DEVICE T wrapping(T x, T y, const Fn& fn) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(fn(static_cast<uint64_t>(x), static_cast<uint64_t>(y)));
  else
    return fn(x, y);
}

template <class T>
MLOPT_DEVICE T bits_of(Arith op, T x, T y) {
  if constexpr (!std::is_integral_v<T>) {
    return x;
  } else {
    const auto by = static_cast<uint64_t>(y);
    switch (op) {
      case Arith::kBitAnd:
        return x & y;
      case Arith::kBitOr:
        return x | y;
      case Arith::kBitXor:
        return x ^ y;
      case Arith::kShiftLeft:
        return by < 8 * sizeof(T) ? static_cast<T>(static_cast<uint64_t>(x) << by) : 0;
      default:
        return by < 8 * sizeof(T) ? static_cast<T>(x >> by) : is_negative(x) ? static_cast<T>(-1) : 0;
    }
  }
}

template <class T>
MLOPT_DEVICE T compute(Arith op, T x, T y) {
  switch (op) {
    case Arith::kAdd:
      return wrapping(x, y, [](auto a, auto b) { return a + b; });
    case Arith::kSub:
      return wrapping(x, y, [](auto a, auto b) { return a - b; });
    case Arith::kMul:
      return wrapping(x, y, [](auto a, auto b) { return a * b; });
    case Arith::kDiv:
      return quotient(x, y);
    case Arith::kPow:
      return power(x, y);
    case Arith::kMax:
      return larger(x, y);
    case Arith::kMin:
      return smaller(x, y);
    case Arith::kPRelu:
      return is_negative(x) ? x * y : x;
    case Arith::kMod:
      return python_remainder(x, y);
    case Arith::kFMod:
      return c_remainder(x, y);
    default:
      return bits_of(op, x, y);
  }
}

MLOPT_DEVICE bool is_infinite(float x, float sign) { return x * sign == std::numeric_limits<float>::infinity(); }
template <class T>
MLOPT_DEVICE bool is_infinite(T, float) {
  return false;
}

template <class T>
MLOPT_DEVICE bool holds(Test test, T x, T y) {
  switch (test) {
    case Test::kInfinite:
      return is_infinite(x, 1) || is_infinite(x, -1);
    case Test::kAbove:
      return is_infinite(x, 1);
    case Test::kBelow:
      return is_infinite(x, -1);
    case Test::kEqual:
      return x == y;
    case Test::kDiffers:
      return x != y;
    case Test::kLess:
      return x < y;
    case Test::kLessEqual:
      return x <= y;
    case Test::kGreater:
      return x > y;
    case Test::kGreaterEqual:
      return x >= y;
    case Test::kAnd:
      return x != T(0) && y != T(0);
    case Test::kOr:
      return x != T(0) || y != T(0);
    case Test::kXor:
      return (x != T(0)) != (y != T(0));
    case Test::kIsZero:
      return x == T(0);
  }
  return false;
}

template <class T>
struct Eltwise {
  Activation act;
  const T* in;
  T* out;
  MLOPT_DEVICE void operator()(uint32_t i) const { out[i] = narrow<T>(apply(act, widen(in[i]))); }
};

template <class T>
struct MathOf {
  Math fn;
  const T* in;
  T* out;
  MLOPT_DEVICE void operator()(uint32_t i) const { out[i] = narrow<T>(compute(fn, widen(in[i]))); }
};

template <class T>
struct ArithOf {
  ArithArgs args;
  Reporter reporter;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    int32_t at[2];
    args.walk.locate(i, at);
    const Wide<T> a = widen(static_cast<const T*>(args.a)[at[0]]), b = widen(static_cast<const T*>(args.b)[at[1]]);
    if (std::is_integral_v<Wide<T>> && b == 0 && divides(args.op)) return reporter.divided_by_zero();
    static_cast<T*>(args.out)[i] = narrow<T>(compute(args.op, a, b));
  }
};

template <class T>
struct ChainOf {
  ChainArgs args;
  MLOPT_DEVICE float read(int operand, int32_t at) const { return widen(static_cast<const T*>(args.in[operand])[at]); }
  MLOPT_DEVICE void operator()(uint32_t i) const {
    int32_t at[ChainArgs::kTensors];
    args.walk.locate(i, at);
    float made = read(0, at[0]);
    for (int k = 0; k < args.count; ++k) {
      const ChainLink& link = args.links[k];
      if (link.operand == 0) {
        made = apply(link.act, made);
      } else {
        const float other = read(link.operand, at[link.operand]);
        made = link.left ? compute(link.op, made, other) : compute(link.op, other, made);
      }
    }
    static_cast<T*>(args.out)[i] = narrow<T>(args.divisor != 0 ? made / args.divisor : made);
  }
};

template <class T>
struct CompareOf {
  CompareArgs args;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    int32_t at[2];
    args.walk.locate(i, at);
    const Wide<T> a = widen(static_cast<const T*>(args.a)[at[0]]), b = widen(static_cast<const T*>(args.b)[at[1]]);
    args.out[i] = holds(args.test, a, b);
  }
};

}  // namespace

Status eltwise(Queue& queue, const EltwiseArgs& args) {
  return by_float(args.type, [&](auto one) {
    using T = decltype(one);
    return for_each(queue, args.count, Eltwise<T>{args.act, static_cast<const T*>(args.in), static_cast<T*>(args.out)});
  });
}

Status math(Queue& queue, const MathArgs& args) {
  return by_float(args.type, [&](auto one) {
    using T = decltype(one);
    return for_each(queue, args.count, MathOf<T>{args.fn, static_cast<const T*>(args.in), static_cast<T*>(args.out)});
  });
}

Status arith(Queue& queue, const ArithArgs& args) {
  return by_type(args.type, [&](auto one) -> Status {
    using T = decltype(one);
    if constexpr (std::is_same_v<T, bool>)
      return "no arithmetic of booleans";
    else
      return for_each(queue, args.walk.count, ArithOf<T>{args, reporter_of(queue)});
  });
}

Status chain(Queue& queue, const ChainArgs& args) {
  return by_float(args.type, [&](auto one) { return for_each(queue, args.walk.count, ChainOf<decltype(one)>{args}); });
}

Status compare(Queue& queue, const CompareArgs& args) {
  return by_type(args.type, [&](auto one) { return for_each(queue, args.walk.count, CompareOf<decltype(one)>{args}); });
}

}  // namespace mlopt::gpu
