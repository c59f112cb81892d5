// Comparisons of two operands, and logic of two conditions, under NumPy's broadcasting; Not, IsNaN.
#include <functional>

#include "backends/cpu/kernels.h"
#include "backends/cpu/pairwise.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

template <class T>
std::function<void(const Buffers&)> comparison(std::string_view op, const Paired& p) {
  if (op == "Equal") return pairwise<T, uint8_t>(p, std::equal_to<T>());
  if (op == "Less") return pairwise<T, uint8_t>(p, std::less<T>());
  if (op == "LessOrEqual") return pairwise<T, uint8_t>(p, std::less_equal<T>());
  if (op == "Greater") return pairwise<T, uint8_t>(p, std::greater<T>());
  if (op == "GreaterOrEqual") return pairwise<T, uint8_t>(p, std::greater_equal<T>());
  return nullptr;
}

std::function<void(const Buffers&)> logic(std::string_view op, const Paired& p) {
  if (op == "And") return pairwise<uint8_t, uint8_t>(p, [](uint8_t a, uint8_t b) { return a && b; });
  if (op == "Or") return pairwise<uint8_t, uint8_t>(p, [](uint8_t a, uint8_t b) { return a || b; });
  if (op == "Xor" || op == "Equal")
    return pairwise<uint8_t, uint8_t>(p, [differ = op == "Xor"](uint8_t a, uint8_t b) { return (!a != !b) == differ; });
  return nullptr;
}

std::function<void(const Buffers&)> runner_of(std::string_view op, DType type, const Paired& p) {
  switch (type) {
    case DType::kF32:
      return comparison<float>(op, p);
    case DType::kF64:
      return comparison<double>(op, p);
    case DType::kI64:
      return comparison<int64_t>(op, p);
    case DType::kI32:
      return comparison<int32_t>(op, p);
    case DType::kU8:
      return comparison<uint8_t>(op, p);
    case DType::kBool:
      return logic(op, p);
    default:
      return nullptr;
  }
}

Expected<PlannedStep> plan(const Site& site) {
  const auto operands = operands_of(site, 0, 1, DType::kBool);
  if (!operands) return operands.error();
  PlannedStep step{.out = {operands->out}};
  step.run = runner_of(site.view.node().op, site.desc(0).dtype, operands->pairing);
  if (!step.run) return Decline{"not this type"};
  return step;
}

Expected<PlannedStep> plan_not(const Site& site) {
  const TensorDesc& x = site.desc(0);
  PlannedStep step{.out = {x}};
  step.in_place = 0;
  step.run = [count = x.size()](const Buffers& b) {
    const int64_t n = count;  // bytes that are written could be anything, `count` too
    const auto* in = b.in<uint8_t>(0);
    auto* out = b.out<uint8_t>(0);
    for (int64_t i = 0; i < n; ++i) out[i] = in[i] == 0;
  };
  return step;
}

Expected<PlannedStep> plan_is_nan(const Site& site) {
  const TensorDesc& x = site.desc(0);
  if (x.dtype != DType::kF32) return Decline{"not float32"};
  TensorDesc out = x;
  out.dtype = DType::kBool;
  PlannedStep step{.out = {out}};
  step.run = [count = x.size()](const Buffers& b) {
    const float* in = b.in<float>(0);
    bool* nan = b.out<bool>(0);
    constexpr int64_t kGrain = 1 << 15;
    parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) nan[i] = in[i] != in[i];
    });
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "And", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Equal", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Greater", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "GreaterOrEqual", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "IsNaN", .plan = plan_is_nan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Less", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "LessOrEqual", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Not", .plan = plan_not, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Or", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Xor", .plan = plan, .layout = LayoutRule::kFollows},
};

}  // namespace

std::span<const Kernel> compare_kernels() { return kKernels; }

}  // namespace mlopt::cpu
