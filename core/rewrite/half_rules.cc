#include "core/rewrite/half_rules.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "core/ir/view.h"
#include "core/tensor/cast.h"

namespace mlopt::half {
namespace {

constexpr std::string_view kOverflows[] = {"Pow",      "Exp",          "ReduceSum",       "ReduceSumSquare",
                                           "ReduceL1", "ReduceL2",     "ReduceProd",      "ReduceLogSum",
                                           "LpPool",   "GlobalLpPool", "ReduceLogSumExp", "ReduceMean"};
constexpr std::string_view kMasking[] = {"Where", "Mul", "Add", "Sub", "Clip", "Min", "Max", "Chain"};
constexpr float kLargestHalf = 65504, kLargestBrain = 0x1.fep127f;
constexpr float kSmallestHalf = 0x1p-24f;
constexpr float kHuge = 1e9f;
constexpr float kDeviations = 4;  // from the mean, that values may be

template <size_t N>
bool listed(const std::string_view (&ops)[N], std::string_view op) {
  return std::find(std::begin(ops), std::end(ops), op) != std::end(ops);
}

bool is_f32(const Value* v) { return v->type.is_tensor() && v->type.dtype == DType::kF32; }

/// Numbers beyond the type's largest become that.
Tensor limited(const Tensor& t, DType type) {
  std::vector<float> numbers = to_floats(t);
  for (float& x : numbers)
    if (std::isfinite(x)) x = std::clamp(x, -largest(type), largest(type));
  return cast(Tensor::of<float>(t.dims(), numbers), type);
}

bool has_wide_statistics(const Use& use) {
  if (!use.node->is("BatchNormalization") || use.index != 0) return false;
  const Value *mean = use.node->input(3), *variance = use.node->input(4);
  if (!mean || !variance || !mean->known_constant() || !variance->known_constant()) return false;
  const std::vector<float> m = to_floats(*mean->known_constant()), v = to_floats(*variance->known_constant());
  for (size_t i = 0; i < std::min(m.size(), v.size()); ++i)
    if (std::fabs(m[i]) + kDeviations * std::sqrt(std::fabs(v[i])) > kLargestHalf) return true;
  return false;
}

}  // namespace

float largest(DType type) { return type == DType::kBF16 ? kLargestBrain : kLargestHalf; }

bool is_huge(const Tensor& t) {
  const double x = t.size() == 1 ? std::fabs(number_at(t, 0)) : 0;
  return x >= static_cast<double>(kHuge) && std::isfinite(x);
}

bool may_mask(const Node& node) { return listed(kMasking, node.op); }

bool fits(const Tensor& t, DType type) {
  if (type == DType::kBF16) return true;  // but for the last bits of the largest numbers, which rounded() limits
  const std::vector<float> numbers = to_floats(t);
  return std::all_of(numbers.begin(), numbers.end(),
                     [](float x) { return !std::isfinite(x) || std::fabs(x) <= kLargestHalf; });
}

Tensor rounded(const Tensor& t, DType type) {
  if (type == DType::kBF16) {
    Tensor made = cast(t, type);
    const std::vector<float> numbers = to_floats(made);
    return std::none_of(numbers.begin(), numbers.end(), [](float x) { return std::isinf(x); }) ? made
                                                                                               : limited(t, type);
  }
  if (t.size() == 1) {
    const double x = number_at(t, 0), sign = x < 0 ? -1 : 1;
    const bool small = x != 0 && std::fabs(x) < static_cast<double>(kSmallestHalf);
    if (small || is_huge(t))
      return cast(Tensor::of<float>(t.dims(), {static_cast<float>(sign) * (small ? kSmallestHalf : kLargestHalf)}),
                  type);
  }
  return cast(t, type);
}

bool overflows(const Node& node, bool sums_in_float32) {
  if (sums_in_float32 && node.op == "ReduceMean") return false;
  if (node.op != "Chain" || node.domain != "mlopt") return listed(kOverflows, node.op);
  const std::vector<std::string> ops = NodeView(node, 1).get_strings("ops");
  return std::any_of(ops.begin(), ops.end(), [](const std::string& op) { return listed(kOverflows, op); });
}

bool feeds_wide_statistics(const Node& node) {
  return std::any_of(node.outputs().begin(), node.outputs().end(), [](const Value* y) {
    return y && is_f32(y) && std::any_of(y->uses.begin(), y->uses.end(), has_wide_statistics);
  });
}

}  // namespace mlopt::half
