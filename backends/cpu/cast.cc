// Cast between the number types of C++, and between float32 and the 16 bit floats.
#include <algorithm>
#include <type_traits>

#include "backends/cpu/kernels.h"
#include "core/base/parallel.h"
#include "core/tensor/convert.h"
#include "core/tensor/halves.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kGrain = 16384;  // elements below which a second thread costs more than it brings

template <class T>
struct Type {
  using type = T;
};

/// Calls fn(Type<T>) with the storage type of the elements; false where they have none here.
template <class Fn>
bool with_type(DType type, const Fn& fn) {
  switch (type) {
    case DType::kF32:
      return fn(Type<float>()), true;
    case DType::kF64:
      return fn(Type<double>()), true;
    case DType::kI64:
      return fn(Type<int64_t>()), true;
    case DType::kI32:
      return fn(Type<int32_t>()), true;
    case DType::kI8:
      return fn(Type<int8_t>()), true;
    case DType::kU8:
      return fn(Type<uint8_t>()), true;
    case DType::kBool:
      return fn(Type<bool>()), true;
    default:
      return false;
  }
}

/// Floats that become integers. A block that int32 holds, unlike numbers that wrap, is something of which the compiler
/// makes vectors.
template <class To, class From>
void truncate(const From* in, To* out, int64_t count) {
  constexpr int64_t kBlock = 256;
  constexpr From kBeyond = 2147483648;  // 2^31
  for (int64_t i = 0; i < count; i += kBlock, in += kBlock, out += kBlock) {
    const int64_t n = std::min(kBlock, count - i);
    int fits = 1;
    for (int64_t k = 0; k < n; ++k) fits &= (in[k] > -kBeyond ? 1 : 0) & (in[k] < kBeyond ? 1 : 0);
    if (fits)
      for (int64_t k = 0; k < n; ++k) out[k] = static_cast<To>(static_cast<int32_t>(in[k]));
    else
      for (int64_t k = 0; k < n; ++k) out[k] = converted<To>(in[k]);
  }
}

template <class To, class From>
void cast(const Buffers& b, int64_t count) {
  parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
    const From* in = b.in<From>(0);
    To* out = b.out<To>(0);
    if constexpr (std::is_same_v<From, bool>) {
      const auto* bytes = b.in<uint8_t>(0);  // of bool the compiler makes no vectors
      for (int64_t i = begin; i < end; ++i) out[i] = static_cast<To>(bytes[i] != 0 ? 1 : 0);
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && !std::is_same_v<To, bool>) {
      truncate(in + begin, out + begin, end - begin);
    } else {
      for (int64_t i = begin; i < end; ++i) out[i] = converted<To>(in[i]);
    }
  });
}

/// Calls fn(Type<T>) with the storage type of a 16 bit float; false for another type.
template <class Fn>
bool with_half(DType type, const Fn& fn) {
  if (type == DType::kF16) return fn(Type<Half>()), true;
  return type == DType::kBF16 && (fn(Type<BFloat16>()), true);
}

/// `convert` is widen() or narrow().
template <class To, class From>
void cast_halves(const Buffers& b, int64_t count, void (*convert)(const From*, To*, int64_t)) {
  parallel_for(count, kGrain,
               [&](int64_t begin, int64_t end) { convert(b.in<From>(0) + begin, b.out<To>(0) + begin, end - begin); });
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  TensorDesc out{static_cast<DType>(site.view.get_int("to")), x.dims, x.layout};
  PlannedStep step{.out = {out}};
  if (out.dtype == x.dtype) {
    step.view_of = 0;
    return step;
  }
  const int64_t count = x.size();
  if (out.dtype == DType::kF32)
    with_half(x.dtype, [&]<class From>(Type<From>) {
      step.run = [count](const Buffers& b) { cast_halves<float, From>(b, count, widen); };
    });
  if (x.dtype == DType::kF32)
    with_half(out.dtype, [&]<class To>(Type<To>) {
      step.run = [count](const Buffers& b) { cast_halves<To, float>(b, count, narrow); };
    });
  with_type(x.dtype, [&]<class From>(Type<From>) {
    with_type(out.dtype,
              [&]<class To>(Type<To>) { step.run = [count](const Buffers& b) { cast<To, From>(b, count); }; });
  });
  if (!step.run) return Decline{"not these types"};
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "Cast", .plan = plan, .layout = LayoutRule::kFollows}};

}  // namespace

std::span<const Kernel> cast_kernels() { return kKernels; }

}  // namespace mlopt::cpu
