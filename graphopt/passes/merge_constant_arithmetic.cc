// x + a + b -> x + (a + b), x * a * b -> x * (a b), with Sub and Div likewise, for constants a and b of floats.
#include <algorithm>
#include <cmath>
#include <functional>

#include "core/tensor/cast.h"
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

/// a and b element by element, where one of them is a single number or both have one shape.
std::optional<Tensor> combined(const Tensor& a, const Tensor& b, const std::function<double(double, double)>& f) {
  if (a.dims() != b.dims() && a.size() != 1 && b.size() != 1) return std::nullopt;
  std::vector<double> left = to_doubles(a), right = to_doubles(b);
  const size_t count = std::max(left.size(), right.size());
  left.resize(count, left.empty() ? 0 : left[0]);
  right.resize(count, right.empty() ? 0 : right[0]);
  Dims dims = a.size() == 1 ? b.dims() : a.dims();
  const auto rank = static_cast<size_t>(std::max(a.rank(), b.rank()));
  dims.insert(dims.begin(), rank - dims.size(), 1);
  for (size_t i = 0; i < count; ++i) {
    left[i] = f(left[i], right[i]);
    if (left[i] != 0 && std::abs(left[i]) < least_normal(a.dtype())) return std::nullopt;
  }
  return tensor_like(a, std::move(dims), left);
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const std::string &inner = m.node("inner")->op, &outer = m.root->op;
  const bool sum = outer == "Add" || outer == "Sub";
  if (sum != (inner == "Add" || inner == "Sub")) return Decline{"a sum and a product"};
  const Tensor &a = m.constant("a"), &b = m.constant("b");
  if (builder.opset() < 7) return Decline{"its opset broadcasts in another way"};
  if (a.dtype() != b.dtype() || a.size() == 0 || b.size() == 0) return Decline{"its constants do not fit each other"};
  constexpr int64_t kSmall = 1024;
  const Value *va = m.value("a"), *vb = m.value("b");
  if (std::max(a.size(), b.size()) > kSmall && !(a.size() >= b.size() ? va : vb)->single_use())
    return Decline{"its constant is used elsewhere too"};
  // The operator of the result is the inner one: x - a + b = x - (a - b).
  const bool same = inner == outer;
  const auto both = combined(a, b, [&](double p, double q) {
    if (sum) return same ? p + q : p - q;
    return same ? p * q : p / q;
  });
  if (!both) return Decline{"its constants have different shapes, or their result does not fit the type"};
  return Replacement{builder.op(inner, {m.value("x"), builder.constant(va->name, *both)}, {}, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  const auto add_mul = [] {
    return Pattern::op("Add|Mul", {Pattern::any("x"), Pattern::constant("a")}).any_order().as("inner").single_use();
  };
  const auto sub_div = [] {
    return Pattern::op("Sub|Div", {Pattern::any("x"), Pattern::constant("a")}).as("inner").single_use();
  };
  return {{Pattern::op("Add|Mul", {add_mul(), Pattern::constant("b")}).any_order(), rewrite},
          {Pattern::op("Add|Mul", {sub_div(), Pattern::constant("b")}).any_order(), rewrite},
          {Pattern::op("Sub|Div", {add_mul(), Pattern::constant("b")}), rewrite},
          {Pattern::op("Sub|Div", {sub_div(), Pattern::constant("b")}), rewrite}};
}

}  // namespace

const Pass merge_constant_arithmetic = {"merge_constant_arithmetic", "replace two constant summands or factors by one",
                                        rules};

}  // namespace mlopt::graphopt
