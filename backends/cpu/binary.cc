// Arithmetic of two operands under NumPy's broadcasting.
#include <algorithm>

#include "backends/cpu/arithmetic.h"
#include "backends/cpu/kernels.h"
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

/// Elements of the output from begin to end.
struct Part {
  const Paired& pairing;
  int64_t begin, end;
  const float *a, *b;
  float* out;
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
  const int64_t rest = r.count - i;
  if (rest == 0) return;
  HWY_ALIGN float a[hn::MaxLanes(d)] = {}, b[hn::MaxLanes(d)] = {};
  if (r.a_moves) std::copy_n(r.a + i, rest, a);
  if (r.b_moves) std::copy_n(r.b + i, rest, b);
  hn::Store(fn(r.a_moves ? hn::Load(d, a) : a0, r.b_moves ? hn::Load(d, b) : b0), d, a);
  std::copy_n(a, rest, r.out + i);
}

template <class Fn>
void run_part(const Part& part, const Fn& fn) {
  const bool a_moves = part.pairing.strides.back()[0] != 0, b_moves = part.pairing.strides.back()[1] != 0;
  for_rows_between(part.pairing, part.begin, part.end,
                   [&](int64_t start, int64_t count, int64_t at_a, int64_t at_b) HWY_ATTR {
                     run_row({part.a + at_a, part.b + at_b, a_moves, b_moves, part.out + start, count}, fn);
                   });
}

void RunPart(Arithmetic op, const Part& part) {
  switch (op) {
    case Arithmetic::kAdd:
      return run_part(part, [](V a, V b) HWY_ATTR { return hn::Add(a, b); });
    case Arithmetic::kSub:
      return run_part(part, [](V a, V b) HWY_ATTR { return hn::Sub(a, b); });
    case Arithmetic::kMul:
      return run_part(part, [](V a, V b) HWY_ATTR { return hn::Mul(a, b); });
    case Arithmetic::kDiv:
      return run_part(part, [](V a, V b) HWY_ATTR { return hn::Div(a, b); });
    case Arithmetic::kMax:
      return run_part(part, [](V a, V b) HWY_ATTR { return larger(a, b); });
    case Arithmetic::kMin:
      return run_part(part, [](V a, V b) HWY_ATTR { return smaller(a, b); });
    case Arithmetic::kPRelu:
      return run_part(part, [](V a, V b) HWY_ATTR { return hn::IfThenElse(hn::Lt(a, constant(0)), hn::Mul(a, b), a); });
  }
}

}  // namespace
}  // namespace mlopt::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mlopt::cpu {

HWY_EXPORT(RunPart);

void run_arithmetic_between(Arithmetic op, const Paired& p, int64_t begin, int64_t end, const float* a, const float* b,
                            float* out) {
  HWY_DYNAMIC_DISPATCH(RunPart)(op, {p, begin, end, a, b, out});
}

void run_arithmetic(Arithmetic op, const Paired& p, const float* a, const float* b, float* out) {
  constexpr int64_t kGrain = 16384;  // elements below which a second thread costs more than it brings
  parallel_for(element_count(p.dims), kGrain,
               [&](int64_t begin, int64_t end) { run_arithmetic_between(op, p, begin, end, a, b, out); });
}

Arithmetic arithmetic_of(std::string_view op) {
  if (op == "Add") return Arithmetic::kAdd;
  if (op == "Sub") return Arithmetic::kSub;
  if (op == "Mul") return Arithmetic::kMul;
  if (op == "Div") return Arithmetic::kDiv;
  if (op == "Max") return Arithmetic::kMax;
  if (op == "Min") return Arithmetic::kMin;
  return Arithmetic::kPRelu;
}

namespace {

Expected<PlannedStep> plan(const Site& site) {
  if (site.in.size() != 2) return Decline{"not two operands"};
  const DType type = site.desc(0).dtype;
  auto operands = operands_of(site, 0, 1, type);
  if (!operands) return operands.error();
  const Arithmetic op = arithmetic_of(site.view.node().op);
  if (op == Arithmetic::kPRelu && operands->out.dims != site.desc(0).dims)
    return Decline{"the slope has more elements"};
  PlannedStep step{.out = {operands->out}};
  step.in_place = operands->in_place;
  if (type != DType::kF32)
    step.run = integer_arithmetic(type, op, operands->pairing);
  else
    step.run = [op, p = std::move(operands->pairing)](const Buffers& buffers) {
      run_arithmetic(op, p, buffers.in<float>(0), buffers.in<float>(1), buffers.out<float>(0));
    };
  if (!step.run) return Decline{"not this type"};
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Add", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Sub", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Mul", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Div", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Max", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Min", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "PRelu", .plan = plan, .layout = LayoutRule::kFollows},
};

}  // namespace

std::span<const Kernel> binary_kernels() { return kKernels; }

}  // namespace mlopt::cpu
#endif  // HWY_ONCE
