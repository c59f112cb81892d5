// Comparisons of two operands, and logic of two conditions, under NumPy's broadcasting; Not.
#include <functional>

#include "backends/cpu/arithmetic.h"
#include "backends/cpu/kernels.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kGrain = 32768;  // elements below which a second thread costs more than it brings

/// Rows of operands that lie side by side or repeat their first element: four loops, for the compiler to make vectors
/// of.
template <class T, class Fn>
void compare_row(const T* a, const T* b, bool a_moves, bool b_moves, uint8_t* out, int64_t n, const Fn& fn) {
  if (a_moves && b_moves)
    for (int64_t i = 0; i < n; ++i) out[i] = fn(a[i], b[i]);
  else if (a_moves)
    for (int64_t i = 0; i < n; ++i) out[i] = fn(a[i], *b);
  else if (b_moves)
    for (int64_t i = 0; i < n; ++i) out[i] = fn(*a, b[i]);
  else
    std::fill_n(out, n, static_cast<uint8_t>(fn(*a, *b)));
}

template <class T, class Fn>
std::function<void(const Buffers&)> runner(const Paired& p, const Fn& fn) {
  return [p, fn](const Buffers& buffers) {
    const T *a = buffers.in<T>(0), *b = buffers.in<T>(1);
    auto* out = buffers.out<uint8_t>(0);
    const bool a_moves = p.strides.back()[0] != 0, b_moves = p.strides.back()[1] != 0;
    for_rows(p, kGrain, [&](int64_t start, int64_t count, int64_t at_a, int64_t at_b) {
      compare_row(a + at_a, b + at_b, a_moves, b_moves, out + start, count, fn);
    });
  };
}

template <class T>
std::function<void(const Buffers&)> comparison(std::string_view op, const Paired& p) {
  if (op == "Equal") return runner<T>(p, std::equal_to<T>());
  if (op == "Less") return runner<T>(p, std::less<T>());
  if (op == "LessOrEqual") return runner<T>(p, std::less_equal<T>());
  if (op == "Greater") return runner<T>(p, std::greater<T>());
  if (op == "GreaterOrEqual") return runner<T>(p, std::greater_equal<T>());
  return nullptr;
}

std::function<void(const Buffers&)> logic(std::string_view op, const Paired& p) {
  if (op == "And") return runner<uint8_t>(p, [](uint8_t a, uint8_t b) { return a && b; });
  if (op == "Or") return runner<uint8_t>(p, [](uint8_t a, uint8_t b) { return a || b; });
  if (op == "Xor" || op == "Equal")
    return runner<uint8_t>(p, [differ = op == "Xor"](uint8_t a, uint8_t b) { return (!a != !b) == differ; });
  return nullptr;
}

std::function<void(const Buffers&)> runner_of(std::string_view op, DType type, const Paired& p) {
  switch (type) {
    case DType::kF32:
      return comparison<float>(op, p);
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
  if (site.view.has("broadcast") || site.view.has("axis")) return Decline{"broadcasting by attribute"};
  const TensorDesc &a = site.desc(0), &b = site.desc(1);
  if (a.dtype != b.dtype) return Decline{"two types"};
  TensorDesc out{DType::kBool, broadcast(a.dims, b.dims), site.layout};
  if (out.dims.size() < 3) out.layout = mlopt::Layout::kRowMajor;
  const auto left = memory_dims(a, out), right = memory_dims(b, out);
  if (!left || !right) return left ? right.error() : left.error();
  PlannedStep step{.out = {out}};
  step.run = runner_of(site.view.node().op, a.dtype, paired(out.memory_dims(), *left, *right));
  if (!step.run) return Decline{"not this type"};
  return step;
}

Expected<PlannedStep> plan_not(const Site& site) {
  const TensorDesc& x = site.desc(0);
  PlannedStep step{.out = {x}};
  step.in_place = 0;
  step.run = [count = x.size()](const Buffers& b) {
    const auto* in = b.in<uint8_t>(0);
    auto* out = b.out<uint8_t>(0);
    for (int64_t i = 0; i < count; ++i) out[i] = !in[i];
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "And", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Equal", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Greater", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "GreaterOrEqual", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Less", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "LessOrEqual", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Not", .plan = plan_not, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Or", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Xor", .plan = plan, .layout = LayoutRule::kFollows},
};

}  // namespace

std::span<const Kernel> compare_kernels() { return kKernels; }

}  // namespace mlopt::cpu
