#include "backends/reference/binary.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "backends/reference/broadcast.h"
#include "backends/reference/kernels.h"

namespace mlopt::reference {
namespace {

/// Integer arithmetic wraps; it is done unsigned, where that is defined.
template <class T, class Fn>
T wrapped(T a, T b, const Fn& fn) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(fn(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  else
    return fn(a, b);
}

constexpr auto kAdd = [](auto a, auto b) { return wrapped(a, b, [](auto x, auto y) { return x + y; }); };
constexpr auto kSub = [](auto a, auto b) { return wrapped(a, b, [](auto x, auto y) { return x - y; }); };
constexpr auto kMul = [](auto a, auto b) { return wrapped(a, b, [](auto x, auto y) { return x * y; }); };
constexpr auto kMax = [](auto a, auto b) { return a > b || a != a ? a : b; };
constexpr auto kMin = [](auto a, auto b) { return a < b || a != a ? a : b; };

/// Truncating for integers; the caller has excluded a zero divisor.
template <class T>
T quotient(T a, T b) {
  if constexpr (std::is_signed_v<T> && std::is_integral_v<T>)
    if (b == -1) return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(a));
  return a / b;
}

/// The remainder with the sign of b, as Python's %.
template <class T>
T floor_modulo(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    const T rest = std::fmod(a, b);
    if (rest == 0) return std::copysign(T{0}, b);
    return (rest < 0) != (b < 0) && rest == rest ? rest + b : rest;
  } else if constexpr (std::is_signed_v<T>) {
    const T rest = b == -1 ? 0 : a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  } else {
    return a % b;
  }
}

/// The remainder with the sign of a, as C's fmod and %.
template <class T>
T truncating_modulo(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fmod(a, b);
  else if constexpr (std::is_signed_v<T>)
    return b == -1 ? 0 : a % b;
  else
    return a % b;
}

/// Output 0 = fn over the broadcast of inputs 0 and 1, in their compute type.
template <class Fn>
void arithmetic(Call& call, const Fn& fn) {
  const auto [a, b, dims] = operands(call);
  with_number(call, a.dtype(), [&, &a = a, &b = b, &dims = dims](auto tag) {
    using T = decltype(tag);
    call.set(0, as(broadcast_map<T, T, T>(dims, widened(a), widened(b), fn), a.dtype()));
  });
}

template <auto kFn>
void arithmetic_op(Call& call) {
  arithmetic(call, kFn);
}

void refuse_zero_divisor(const Call& call) {
  const Tensor& b = call.in(1);
  if (!is_integer(b.dtype()) || call.in(0).size() == 0) return;
  for (const int64_t value : to_ints(b)) require(call, value != 0, "integer division by zero");
}

void divide(Call& call) {
  refuse_zero_divisor(call);
  arithmetic(call, [](auto a, auto b) { return quotient(a, b); });
}

void modulo(Call& call) {
  refuse_zero_divisor(call);
  if (call.view.get_int("fmod", 0) != 0)
    arithmetic(call, [](auto a, auto b) { return truncating_modulo(a, b); });
  else
    arithmetic(call, [](auto a, auto b) { return floor_modulo(a, b); });
}

/// base ** exponent of integers, wrapping; a negative exponent truncates 1 / base ** |exponent| (0 for base 0).
int64_t integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (auto rest = static_cast<uint64_t>(exponent); rest != 0; rest >>= 1, square *= square)
    if (rest & 1) result *= square;
  return static_cast<int64_t>(result);
}

/// The exponent may have a type of its own; the result has the base's. Mixed types are computed in double.
void power(Call& call) {
  const auto [base, exponent, dims] = operands(call, /*same_type=*/false);
  const auto whole = [](DType type) { return is_integer(type); };
  Tensor out;
  if (whole(base.dtype()) && whole(exponent.dtype())) {
    out =
        broadcast_map<int64_t, int64_t, int64_t>(dims, as(base, DType::kI64), as(exponent, DType::kI64), integer_power);
  } else if (compute_type(base.dtype()) == DType::kF32 && compute_type(exponent.dtype()) == DType::kF32) {
    out = broadcast_map<float, float, float>(dims, widened(base), widened(exponent),
                                             [](float x, float y) { return std::pow(x, y); });
  } else {
    if (compute_type(base.dtype()) == DType::kUndefined) wrong_type(call, base.dtype());
    if (compute_type(exponent.dtype()) == DType::kUndefined) wrong_type(call, exponent.dtype());
    out = broadcast_map<double, double, double>(dims, as(base, DType::kF64), as(exponent, DType::kF64),
                                                [](double x, double y) { return std::pow(x, y); });
  }
  call.set(0, as(out, base.dtype()));
}

/// The broadcast of all inputs folded with fn, then each element through `finish` (sum, count of inputs).
template <class Fn, class Finish>
void variadic(Call& call, const Fn& fn, const Finish& finish) {
  require(call, call.input_count() > 0, "at least one input is needed");
  const DType type = call.in(0).dtype();
  std::vector<Dims> shapes;
  for (int i = 0; i < call.input_count(); ++i) {
    require(call, call.in(i).dtype() == type, "the inputs must have one type");
    shapes.push_back(call.in(i).dims());
  }
  const Dims dims = broadcast_dims(call, shapes);
  with_number(call, type, [&](auto tag) {
    using T = decltype(tag);
    Tensor folded = expanded(call, widened(call.in(0)), dims);
    for (int i = 1; i < call.input_count(); ++i) folded = broadcast_map<T, T, T>(dims, folded, widened(call.in(i)), fn);
    call.set(0, as(finish(std::move(folded), tag), type));
  });
}

template <auto kFn>
void variadic_op(Call& call) {
  variadic(call, kFn, [](Tensor folded, auto) { return folded; });
}

void mean(Call& call) {
  variadic(call, kAdd, [&](Tensor sum, auto tag) {
    using T = decltype(tag);
    T* values = sum.mutable_data<T>();
    for (int64_t i = 0; i < sum.size(); ++i) values[i] /= static_cast<T>(call.input_count());
    return sum;
  });
}

/// Amounts below 0 or of the element's width and more leave only copies of the sign (right) or zeros (left).
void bit_shift(Call& call) {
  const auto [x, amounts, dims] = operands(call);
  if (!is_integer(x.dtype())) wrong_type(call, x.dtype());
  const std::string direction = call.view.get_string("direction", "");
  require(call, direction == "LEFT" || direction == "RIGHT", "direction must be LEFT or RIGHT");
  const auto width = static_cast<uint64_t>(bits(x.dtype()));
  const bool left = direction == "LEFT";
  with_number(call, x.dtype(), [&, &x = x, &amounts = amounts, &dims = dims](auto tag) {
    using T = decltype(tag);
    if constexpr (std::is_integral_v<T>) {
      const auto fn = [=](T value, T amount) {
        const auto by = static_cast<uint64_t>(amount);
        if (by >= width) return !left && value < 0 ? static_cast<T>(-1) : T{0};
        return left ? static_cast<T>(static_cast<uint64_t>(value) << by) : static_cast<T>(value >> by);
      };
      call.set(0, as(broadcast_map<T, T, T>(dims, widened(x), widened(amounts), fn), x.dtype()));
    }
  });
}

constexpr Kernel kKernels[] = {
    {"", "Add", arithmetic_op<kAdd>},
    {"", "BitShift", bit_shift},
    {"", "Div", divide},
    {"", "Max", variadic_op<kMax>},
    {"", "Mean", mean},
    {"", "Min", variadic_op<kMin>},
    {"", "Mod", modulo},
    {"", "Mul", arithmetic_op<kMul>},
    {"", "Pow", power},
    {"", "Sub", arithmetic_op<kSub>},
    {"", "Sum", variadic_op<kAdd>},
};

}  // namespace

Operands operands(const Call& call, bool same_type) {
  Operands found{call.in(0), call.in(1), {}};
  if (same_type && found.a.dtype() != found.b.dtype())
    fail(call, std::string("the inputs have different types: ") + std::string(name(found.a.dtype())) + " and " +
                   std::string(name(found.b.dtype())));
  // Opsets 1 to 6 place the second shape inside the first from `axis` on, instead of at its end.
  if (call.view.opset() < 7 && call.view.node().domain.empty() && call.view.has("axis") && found.b.rank() > 0) {
    const int axis = axis_of(call, call.view.get_int("axis"), found.a.rank());
    Dims dims = found.b.dims();
    while (dims.size() > 1 && dims.back() == 1 && axis + static_cast<int>(dims.size()) > found.a.rank())
      dims.pop_back();
    require(call, axis + static_cast<int>(dims.size()) <= found.a.rank(), "the second shape does not fit at this axis");
    dims.resize(static_cast<size_t>(found.a.rank() - axis), 1);
    found.b = found.b.reshaped(dims);
  }
  found.dims = broadcast_dims(call, {found.a.dims(), found.b.dims()});
  return found;
}

std::span<const Kernel> binary_kernels() { return kKernels; }

}  // namespace mlopt::reference
