// Max, Mean, Min and Sum of any number of float32 operands: two after two into the output.
#include <vector>

#include "backends/cpu/arithmetic.h"
#include "backends/cpu/kernels.h"

namespace mlopt::cpu {
namespace {

/// In memory, the output's dims and how the operands step through them: the first two, then the result so far and
/// each of the others.
Expected<std::vector<Paired>> pairings_of(const Site& site, const TensorDesc& out) {
  std::vector<Dims> dims;
  for (size_t i = 0; i < site.in.size(); ++i) {
    auto own = memory_dims(site.desc(static_cast<int>(i)), out);
    if (!own) return own.error();
    dims.push_back(std::move(*own));
  }
  const Dims all = out.memory_dims();
  if (broadcast(dims[0], dims[1]) != all) return Decline{"the first two have fewer elements than the output"};
  std::vector<Paired> pairings{paired(all, dims[0], dims[1])};
  for (size_t i = 2; i < dims.size(); ++i) pairings.push_back(paired(all, all, dims[i]));
  return pairings;
}

Expected<PlannedStep> plan(const Site& site) {
  if (site.in.size() < 2) return Decline{"one operand"};
  TensorDesc out{DType::kF32, {}, site.layout};
  for (size_t i = 0; i < site.in.size(); ++i) {
    const TensorDesc& operand = site.desc(static_cast<int>(i));
    if (operand.dtype != DType::kF32) return Decline{"not float32"};
    out.dims = broadcast(out.dims, operand.dims);
  }
  if (out.dims.size() < 3) out.layout = mlopt::Layout::kRowMajor;
  auto pairings = pairings_of(site, out);
  if (!pairings) return pairings.error();
  const std::string_view name = site.view.node().op;
  const Arithmetic op = name == "Max" || name == "Min" ? arithmetic_of(name) : Arithmetic::kAdd;
  PlannedStep step{.out = {out}};
  step.run = [op, is_mean = name == "Mean", pairings = std::move(*pairings),
              all = paired(out.memory_dims(), out.memory_dims(), {})](const Buffers& b) {
    auto* result = b.out<float>(0);
    run_arithmetic(op, pairings[0], b.in<float>(0), b.in<float>(1), result);
    for (size_t i = 1; i < pairings.size(); ++i)
      run_arithmetic(op, pairings[i], result, b.in<float>(static_cast<int>(i) + 1), result);
    const auto count = static_cast<float>(pairings.size() + 1);
    if (is_mean) run_arithmetic(Arithmetic::kDiv, all, result, &count, result);
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "Max", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Mean", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Min", .plan = plan, .layout = LayoutRule::kFollows},
    {.domain = "", .op = "Sum", .plan = plan, .layout = LayoutRule::kFollows},
};

}  // namespace

std::span<const Kernel> variadic_kernels() { return kKernels; }

}  // namespace mlopt::cpu
