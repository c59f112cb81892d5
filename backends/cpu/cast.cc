// Cast between the number types of C++, and between float32 and the 16 bit floats.
#include <type_traits>

#include "backends/cpu/kernels.h"
#include "backends/cpu/primitive.h"
#include "core/base/parallel.h"
#include "core/tensor/convert.h"

namespace mlopt::cpu {
namespace {

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

template <class To, class From>
void cast(const Buffers& b, int64_t count) {
  constexpr int64_t kGrain = 16384;  // elements below which a second thread costs more than it brings
  parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) b.out<To>(0)[i] = converted<To>(b.in<From>(0)[i]);
  });
}

bool is_half(DType type) { return type == DType::kF16 || type == DType::kBF16; }

/// oneDNN's copy of elements that lie alike.
Expected<PlannedStep> plan_floats(const TensorDesc& x, TensorDesc out) {
  const Desc from = desc_of(x), to = desc_of(out);
  const dnnl::reorder::primitive_desc pd(engine(), from, engine(), to, new_attr(), true);
  if (is_slow(pd)) return Decline{"oneDNN has only a plain loop for it"};
  auto op =
      Primitive::make<dnnl::reorder>(pd, {{DNNL_ARG_FROM, from, Source::in(0)}, {DNNL_ARG_TO, to, Source::out(0)}});
  PlannedStep step{.out = {std::move(out)}};
  step.scratch_bytes = op.scratch_bytes();
  step.run = [op = std::move(op)](const Buffers& b) { op.run(b); };
  return step;
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  TensorDesc out{static_cast<DType>(site.view.get_int("to")), x.dims, x.layout};
  PlannedStep step{.out = {out}};
  if (out.dtype == x.dtype) {
    step.view_of = 0;
    return step;
  }
  if ((is_half(x.dtype) && out.dtype == DType::kF32) || (x.dtype == DType::kF32 && is_half(out.dtype)))
    return plan_floats(x, out);
  with_type(x.dtype, [&]<class From>(Type<From>) {
    with_type(out.dtype, [&]<class To>(Type<To>) {
      step.run = [count = x.size()](const Buffers& b) { cast<To, From>(b, count); };
    });
  });
  if (!step.run) return Decline{"not these types"};
  return step;
}

constexpr Kernel kKernels[] = {{.domain = "", .op = "Cast", .plan = guarded<plan>, .layout = LayoutRule::kFollows}};

}  // namespace

std::span<const Kernel> cast_kernels() { return kKernels; }

}  // namespace mlopt::cpu
