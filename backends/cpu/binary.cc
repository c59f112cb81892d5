// Arithmetic of two float32 operands under NumPy's broadcasting.
#include <algorithm>

#include "backends/cpu/arithmetic.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/planned.h"
#include "backends/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/binary.cc"
#include <hwy/foreach_target.h>

#include "backends/cpu/math-inl.h"

#ifndef MLOPT_BACKENDS_CPU_BINARY
#define MLOPT_BACKENDS_CPU_BINARY
namespace mlopt::cpu {

/// One row: operands whose step is 0 repeat their first element.
struct Row {
  const float *a, *b;
  bool a_moves, b_moves;
  float* out;
  int64_t count;
};

}  // namespace mlopt::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace mlopt::cpu::HWY_NAMESPACE {
namespace {

template <class Fn>
HWY_INLINE void run_row(const Row& r, const Fn& fn) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V a0 = constant(*r.a), b0 = constant(*r.b);
  int64_t i = 0;
  for (; i + lanes <= r.count; i += lanes) {
    const V a = r.a_moves ? hn::LoadU(d, r.a + i) : a0, b = r.b_moves ? hn::LoadU(d, r.b + i) : b0;
    hn::StoreU(fn(a, b), d, r.out + i);
  }
  HWY_ALIGN float a[hn::MaxLanes(d)] = {}, b[hn::MaxLanes(d)] = {};
  const int64_t rest = r.count - i;
  if (r.a_moves) std::copy_n(r.a + i, rest, a);
  if (r.b_moves) std::copy_n(r.b + i, rest, b);
  hn::Store(fn(r.a_moves ? hn::Load(d, a) : a0, r.b_moves ? hn::Load(d, b) : b0), d, a);
  std::copy_n(a, rest, r.out + i);
}

void RunRow(Arithmetic op, const Row& r) {
  switch (op) {
    case Arithmetic::kAdd:
      return run_row(r, [](V a, V b) HWY_ATTR { return hn::Add(a, b); });
    case Arithmetic::kSub:
      return run_row(r, [](V a, V b) HWY_ATTR { return hn::Sub(a, b); });
    case Arithmetic::kMul:
      return run_row(r, [](V a, V b) HWY_ATTR { return hn::Mul(a, b); });
    case Arithmetic::kDiv:
      return run_row(r, [](V a, V b) HWY_ATTR { return hn::Div(a, b); });
    case Arithmetic::kMax:
      return run_row(r, [](V a, V b) HWY_ATTR { return larger(a, b); });
    case Arithmetic::kMin:
      return run_row(r, [](V a, V b) HWY_ATTR { return smaller(a, b); });
    case Arithmetic::kPRelu:
      return run_row(r, [](V a, V b) HWY_ATTR { return hn::IfThenElse(hn::Lt(a, constant(0)), hn::Mul(a, b), a); });
  }
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {

HWY_EXPORT(RunRow);

void run_arithmetic(Arithmetic op, const Paired& p, const float* a, const float* b, float* out) {
  constexpr int64_t kGrain = 16384;  // elements below which a second thread costs more than it brings
  const bool a_moves = p.strides.back()[0] != 0, b_moves = p.strides.back()[1] != 0;
  for_rows(p, kGrain, [&](int64_t start, int64_t count, int64_t at_a, int64_t at_b) {
    // Not a pointer taken beforehand: the first of a process is the one that asks what the processor can do, each time.
    HWY_DYNAMIC_DISPATCH(RunRow)(op, {a + at_a, b + at_b, a_moves, b_moves, out + start, count});
  });
}

namespace {

Arithmetic arithmetic_of(std::string_view op) {
  if (op == "Add") return Arithmetic::kAdd;
  if (op == "Sub") return Arithmetic::kSub;
  if (op == "Mul") return Arithmetic::kMul;
  if (op == "Div") return Arithmetic::kDiv;
  if (op == "Max") return Arithmetic::kMax;
  if (op == "Min") return Arithmetic::kMin;
  return Arithmetic::kPRelu;
}

Expected<Step> compile(const NodeView& view, const CompileContext& context) {
  if (const auto no = wrong_type(view, 0, {DType::kF32})) return *no;
  if (view.node().inputs().size() != 2) return Decline{"not two operands"};
  if (view.has("broadcast") || view.has("axis")) return Decline{"broadcasting by attribute"};
  const Arithmetic op = arithmetic_of(view.node().op);
  return planned(view, context, [op](const Call& call) -> Expected<Step> {
    if (call.in(0).dtype() != DType::kF32 || call.in(1).dtype() != DType::kF32) return Decline{"not float32"};
    Dims out = broadcast(call.in(0).dims(), call.in(1).dims());
    if (op == Arithmetic::kPRelu && out != call.in(0).dims()) return Decline{"the slope has more elements"};
    return Step([op, out, p = paired(out, call.in(0).dims(), call.in(1).dims())](Call& c) {
      float* y = c.make(0, DType::kF32, out).mutable_data<float>();
      run_arithmetic(op, p, c.in(0).data<float>(), c.in(1).data<float>(), y);
    });
  });
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Add", .compile = compile},   {.domain = "", .op = "Sub", .compile = compile},
    {.domain = "", .op = "Mul", .compile = compile},   {.domain = "", .op = "Div", .compile = compile},
    {.domain = "", .op = "Max", .compile = compile},   {.domain = "", .op = "Min", .compile = compile},
    {.domain = "", .op = "PRelu", .compile = compile},
};

}  // namespace

std::span<const Kernel> binary_kernels() { return kKernels; }

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
