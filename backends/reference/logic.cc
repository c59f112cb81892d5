#include <functional>

#include "backends/reference/binary.h"
#include "backends/reference/broadcast.h"
#include "backends/reference/kernels.h"

namespace mlopt::reference {
namespace {

template <class Fn>
Tensor compare_strings(const Operands& x, const Fn& fn) {
  Tensor out(DType::kBool, x.dims);
  bool* o = out.mutable_data<bool>();
  const auto &a = x.a.strings(), &b = x.b.strings();
  Broadcast<2>(x.dims, {x.a.dims(), x.b.dims()})
      .for_runs([&](int64_t start, int64_t count, const auto& at, const auto& step) {
        for (int64_t i = 0; i < count; ++i)
          o[start + i] = fn(a[static_cast<size_t>(at[0] + i * step[0])], b[static_cast<size_t>(at[1] + i * step[1])]);
      });
  return out;
}

template <auto kFn>
void comparison(Call& call) {
  const Operands x = operands(call);
  if (x.a.dtype() == DType::kString) return call.set(0, compare_strings(x, kFn));
  with_number(call, x.a.dtype(), [&](auto tag) {
    using T = decltype(tag);
    call.set(0, broadcast_map<bool, T, T>(x.dims, widened(x.a), widened(x.b), kFn));
  });
}

/// Bytes of a bool tensor: a stored byte other than 0 and 1 still counts as true.
template <auto kFn>
void logical(Call& call) {
  const Operands x = operands(call);
  if (x.a.dtype() != DType::kBool) wrong_type(call, x.a.dtype());
  Tensor out(DType::kBool, x.dims);
  bool* o = out.mutable_data<bool>();
  const std::byte *a = x.a.raw(), *b = x.b.raw();
  Broadcast<2>(x.dims, {x.a.dims(), x.b.dims()})
      .for_runs([&](int64_t start, int64_t count, const auto& at, const auto& step) {
        for (int64_t i = 0; i < count; ++i)
          o[start + i] = kFn(a[at[0] + i * step[0]] != std::byte{0}, b[at[1] + i * step[1]] != std::byte{0});
      });
  call.set(0, std::move(out));
}

template <auto kFn>
void bitwise(Call& call) {
  const Operands x = operands(call);
  if (!is_integer(x.a.dtype())) wrong_type(call, x.a.dtype());
  const Tensor a = as(x.a, DType::kI64), b = as(x.b, DType::kI64);
  call.set(0, as(broadcast_map<int64_t, int64_t, int64_t>(x.dims, a, b, kFn), x.a.dtype()));
}

/// out[i] = pick(condition) ? x : y over the three shapes' broadcast, for elements that are moved as they are.
template <class T, class Element>
void choose(const Dims& dims, const Tensor& condition, const Tensor& x, const Tensor& y, const T* a, const T* b,
            const Element& store) {
  const std::byte* c = condition.raw();
  Broadcast<3>(dims, {condition.dims(), x.dims(), y.dims()})
      .for_runs([&](int64_t start, int64_t count, const auto& at, const auto& step) {
        for (int64_t i = 0; i < count; ++i)
          store(start + i, c[at[0] + i * step[0]] != std::byte{0} ? a[at[1] + i * step[1]] : b[at[2] + i * step[2]]);
      });
}

void where(Call& call) {
  const Tensor &condition = call.in(0), &x = call.in(1), &y = call.in(2);
  if (condition.dtype() != DType::kBool) wrong_type(call, condition.dtype());
  require(call, x.dtype() == y.dtype(), "both branches must have one type");
  const Dims dims = broadcast_dims(call, {condition.dims(), x.dims(), y.dims()});
  Tensor out(x.dtype(), dims);
  if (x.dtype() == DType::kString) {
    auto& strings = out.mutable_strings();
    choose(dims, condition, x, y, x.strings().data(), y.strings().data(),
           [&](int64_t i, const std::string& text) { strings[static_cast<size_t>(i)] = text; });
    return call.set(0, std::move(out));
  }
  with_bytes(call, x.dtype(), [&](auto tag) {
    using T = decltype(tag);
    T* o = reinterpret_cast<T*>(out.mutable_raw());
    choose(dims, condition, x, y, reinterpret_cast<const T*>(x.raw()), reinterpret_cast<const T*>(y.raw()),
           [=](int64_t i, const T& value) { o[i] = value; });
  });
  call.set(0, std::move(out));
}

constexpr auto kAnd = [](auto a, auto b) { return a & b; };
constexpr auto kOr = [](auto a, auto b) { return a | b; };
constexpr auto kXor = [](auto a, auto b) { return a ^ b; };

constexpr Kernel kKernels[] = {
    {"", "And", logical<kAnd>},
    {"", "BitwiseAnd", bitwise<kAnd>},
    {"", "BitwiseOr", bitwise<kOr>},
    {"", "BitwiseXor", bitwise<kXor>},
    {"", "Equal", comparison<std::equal_to<>{}>},
    {"", "Greater", comparison<std::greater<>{}>},
    {"", "GreaterOrEqual", comparison<std::greater_equal<>{}>},
    {"", "Less", comparison<std::less<>{}>},
    {"", "LessOrEqual", comparison<std::less_equal<>{}>},
    {"", "Or", logical<kOr>},
    {"", "Where", where},
    {"", "Xor", logical<kXor>},
};

}  // namespace

std::span<const Kernel> logic_kernels() { return kKernels; }

}  // namespace mlopt::reference
