#include "graphopt/passes/limits.h"

#include <algorithm>
#include <cmath>

#include "core/rewrite/half_rules.h"
#include "core/tensor/cast.h"

namespace mlopt::graphopt {

namespace {

double largest_finite(DType type) {
  if (type == DType::kF64) return std::numeric_limits<double>::max();
  if (type == DType::kF16 || type == DType::kBF16) return static_cast<double>(half::largest(type));
  return static_cast<double>(std::numeric_limits<float>::max());
}

}  // namespace

std::optional<Limits> Limits::of(const NodeView& view) {
  if (view.node().is("Relu")) return Limits{0, std::numeric_limits<double>::infinity()};
  if (!view.node().is("Clip") || view.opset() < 6) return std::nullopt;
  const Value* x = view.node().input(0);
  const double most = largest_finite(view.opset() < 11 || !x ? DType::kF32 : x->type.dtype);
  const auto low = view.number("min", 1, -most), high = view.number("max", 2, most);
  if (!low || !high || !(*low <= *high)) return std::nullopt;
  return Limits{*low, *high};
}

Value* make_clip(Builder& builder, Value* x, const Limits& limits) {
  if (limits.low == 0 && std::isinf(limits.high)) return builder.op("Relu", {x}, {}, x->type);
  if (builder.opset() < 11) {
    const Attr low{"min", static_cast<float>(limits.low), {}}, high{"max", static_cast<float>(limits.high), {}};
    return builder.op("Clip", {x}, {low, high}, x->type);
  }
  const auto limit = [&](const char* name, double number) {
    return builder.constant(x->name + name, cast(Tensor::scalar(number), x->type.dtype));
  };
  return builder.op("Clip", {x, limit("_min", limits.low), limit("_max", limits.high)}, {}, x->type);
}

bool never_negative(const Value& value, const Builder& builder) {
  const Node* made = value.producer;
  while (made && (made->is("ReduceSum") || made->is("ReduceMean"))) made = made->input(0)->producer;
  if (!made || !made->domain.empty()) return false;
  constexpr std::string_view kNeverNegative[] = {"Relu", "Sigmoid",  "HardSigmoid",     "Softmax",  "Exp",     "Sqrt",
                                                 "Abs",  "Softplus", "ReduceSumSquare", "ReduceL1", "ReduceL2"};
  const Node& node = *made;
  // Limits that are not in order give the upper one.
  if (node.op == "Clip") return Limits::of(builder.view(node)).value_or(Limits{}).low >= 0;
  if (node.op == "Mul") return node.input(0) == node.input(1) && is_float(value.type.dtype);
  return std::find(std::begin(kNeverNegative), std::end(kNeverNegative), node.op) != std::end(kNeverNegative);
}

}  // namespace mlopt::graphopt
