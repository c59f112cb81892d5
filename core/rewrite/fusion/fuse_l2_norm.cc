// x / max(sqrt(sum(x^2)), least) along one axis, as torch.nn.functional.normalize is exported -> LpNormalization. A
// least length of at most 1e-12 is there to keep zeros zeros; what is shorter than that and not zero becomes 1 long.
#include <cmath>

#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/numbers.h"

namespace mlopt::fusion {
namespace {

constexpr double kLeast = 1.001e-12;  ///< 1e-12 in float32, which is a little more

/// The operand of a sum, or of a root of a sum, over one axis that stays, and that axis.
struct Sum {
  Value* of = nullptr;  ///< null: it is no such sum
  int64_t axis = 0;
};

Sum sum_of(const Node* node, const Builder& builder) {
  if (!node || !node->input(0)->type.dims) return {};
  const NodeView view = builder.view(*node);
  const auto axes = view.ints("axes", 1);
  if (!axes || axes->size() != 1 || view.get_int("keepdims", 1) == 0) return {};
  const auto rank = static_cast<int64_t>(node->input(0)->type.dims->size());
  return {node->input(0), axes->front() < 0 ? axes->front() + rank : axes->front()};
}

/// sum(x^2).
Sum sum_of_squares(const Value* v, const Builder& builder) {
  if (const Node* node = producer_of(v, "ReduceSumSquare")) return sum_of(node, builder);
  const Sum sum = sum_of(producer_of(v, "ReduceSum"), builder);
  const Node* square = sum.of ? sum.of->producer : nullptr;
  if (!square) return {};
  const bool power = square->is("Pow") && is_number(square->input(1), 2);
  const bool product = square->is("Mul") && square->input(0) == square->input(1);
  return power || product ? Sum{square->input(0), sum.axis} : Sum{};
}

/// sqrt(sum(x^2)).
Sum length_of(const Value* v, const Builder& builder) {
  if (const Node* node = producer_of(v, "ReduceL2")) return sum_of(node, builder);
  if (const Node* root = producer_of(v, "Sqrt")) return sum_of_squares(root->input(0), builder);
  const Node* power = producer_of(v, "Pow");
  return power && is_number(power->input(1), 0.5) ? sum_of_squares(power->input(0), builder) : Sum{};
}

/// v of max(v, least), and the least; null for other values.
std::pair<const Value*, double> bounded(const Value* v, const Builder& builder) {
  if (const Node* clip = producer_of(v, "Clip")) {
    const NodeView view = builder.view(*clip);
    const auto least = view.number("min", 1, -1), most = view.number("max", 2, INFINITY);
    const bool above = most && *most >= 3e38;
    return above && least ? std::pair(static_cast<const Value*>(clip->input(0)), *least) : std::pair(v, 0.0);
  }
  const Node* max = producer_of(v, "Max");
  if (!max || max->inputs().size() != 2) return {v, 0};
  for (const int i : {0, 1})
    if (const auto least = number_in(max->input(i))) return {max->input(1 - i), *least};
  return {v, 0};
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  const Value* divisor = m.value("divisor");
  if (const Node* repeated = producer_of(divisor, "Expand")) divisor = repeated->input(0);
  const auto [length, least] = bounded(divisor, builder);
  const Sum sum = length_of(length, builder);
  if (!sum.of) return Decline{};
  if (sum.of != x || !x->type.dims || sum.axis < 0 || sum.axis >= static_cast<int64_t>(x->type.dims->size()))
    return Decline{"another value's length divides"};
  if (m.root->output(0)->type.dims != x->type.dims) return Decline{"what divides it repeats it"};
  if (!(least > 0)) return Decline{"zeros would stay zeros, not become NaN"};
  if (least > kLeast) return Decline{"what is short would become longer"};
  if (x->type.dtype != DType::kF32 && x->type.dtype != DType::kF64) return Decline{"it is neither float32 nor double"};
  if (builder.target != Target::kOnnx && builder.target != Target::kOrt)
    return Decline{"the target has no LpNormalization, or one that divides by zero"};
  if (builder.target == Target::kOnnx && !builder.has(22))
    return Decline{"LpNormalization of zeros is defined from opset 22 on"};
  return Replacement{
      builder.op("LpNormalization", {x}, {{"axis", sum.axis, ""}, {"p", int64_t{2}, ""}}, m.root->output(0)->type)};
}

std::vector<Rule> rules() { return {{Pattern::op("Div", {Pattern::any("x"), Pattern::any("divisor")}), rewrite}}; }

}  // namespace

const Pass fuse_l2_norm = {"fuse_l2_norm", "a value divided by its length along an axis as one operator", rules};

}  // namespace mlopt::fusion
