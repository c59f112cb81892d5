// Einsum of two operands -> Transpose and Reshape of each, MatMul, Reshape and Transpose, as far as they are needed, or
// Mul where nothing is summed; Einsum of one -> ReduceSum and Transpose.
#include <algorithm>

#include "core/rewrite/axis_map.h"
#include "core/tensor/dim_product.h"
#include "graphopt/passes.h"
#include "graphopt/passes/einsum.h"
#include "graphopt/passes/reduction.h"

namespace mlopt::graphopt {
namespace {

std::vector<int64_t> places(const std::string& letters, const std::string& term) {
  std::vector<int64_t> axes;
  for (const char letter : letters) axes.push_back(static_cast<int64_t>(term.find(letter)));
  return axes;
}

Expected<Replacement> of_one(const Match& m, const Equation& equation, Builder& builder) {
  const std::string& term = equation.terms[0];
  std::string left;
  Reduction sum{{}, false, false};
  for (size_t i = 0; i < term.size(); ++i) {
    if (equation.result.find(term[i]) == std::string::npos)
      sum.axes.push_back(static_cast<int64_t>(i));
    else
      left += term[i];
  }
  Value* y = m.root->input(0);
  const Type& type = m.root->output(0)->type;
  if (!sum.axes.empty()) y = make_reduction(builder, "ReduceSum", y, sum, left == equation.result ? type : Type());
  if (left == equation.result) return Replacement{y};
  return Replacement{builder.op("Transpose", {y}, {{"perm", places(equation.result, left), {}}}, type)};
}

/// An operand, and the axes that its letters stand for.
struct Operand {
  Value* value = nullptr;
  std::string term;

  Dim length(char letter) const { return (*value->type.dims)[term.find(letter)]; }
  SymDims lengths(const std::string& letters) const {
    SymDims all;
    for (const char letter : letters) all.push_back(length(letter));
    return all;
  }
};

/// The way of each operand to what is multiplied, and from there to the result.
struct Plan {
  Operand a, b;
  AxisMap to_a, to_b, to_y;
  int64_t cost() const {
    return (a.value->known_constant() ? 0 : to_a.cost()) + (b.value->known_constant() ? 0 : to_b.cost()) + to_y.cost();
  }
};

/// The operand's axes in that order, then seen with those dimensions.
std::optional<AxisMap> way_to(const Operand& operand, const std::string& order, const SymDims& dims) {
  AxisMap way(*operand.value->type.dims);
  const bool fits = way.transpose(places(order, operand.term)) && way.reshape(dims) && way.writable();
  return fits ? std::optional(way) : std::nullopt;
}

/// Axes of the first operand alone that may stay axes, as MatMul repeats the second one along them: those before the
/// batch axes of the result, but for one that the rows are.
std::string outer_axes(const ProductAxes& axes, const std::string& result) {
  std::string outer = axes.left;
  if (!axes.batch.empty())
    std::erase_if(outer, [&](char letter) { return result.find(letter) > result.find(axes.batch.front()); });
  if (outer == axes.left && !outer.empty()) outer.pop_back();
  return outer;
}

SymDims operator+(SymDims a, const SymDims& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Batch axes stay axes, because they may repeat; the others become one each, but for those of the first operand alone
/// that are kept apart. Nothing is summed by a product of numbers.
std::optional<Plan> plan_of(const Operand& a, const Operand& b, const Operand& y, const ProductAxes& axes, bool apart) {
  const bool sums = !axes.summed.empty();
  const std::string outer = sums ? outer_axes(axes, y.term) : "";
  std::string rows = axes.left, between;
  std::erase_if(rows, [&](char letter) { return outer.find(letter) != std::string::npos; });
  if (apart && sums && rows.size() > 1) {
    between = rows.substr(0, rows.size() - 1);
    rows = rows.back();
  }
  SymDims left = y.lengths(rows), right = y.lengths(axes.right);
  if (sums) left = {product(left)}, right = {product(right)};
  const SymDims batch = y.lengths(outer) + y.lengths(axes.batch) + y.lengths(between);
  const SymDims inner = sums ? SymDims{product(a.lengths(axes.summed))} : SymDims(right.size(), 1);
  const SymDims ones(axes.batch.empty() ? 0 : sums ? between.size() : left.size(), 1);
  const auto to_a = way_to(a, outer + axes.batch + between + rows + axes.summed,
                           a.lengths(outer) + a.lengths(axes.batch) + a.lengths(between) + left + inner);
  const auto to_b = way_to(b, axes.batch + axes.summed + axes.right,
                           b.lengths(axes.batch) + ones + (sums ? inner : SymDims()) + right);
  AxisMap to_y(batch + left + right);
  const std::string order = outer + axes.batch + between + rows + axes.right;
  const bool fits = to_y.reshape(y.lengths(order)) && to_y.transpose(places(y.term, order)) && to_y.writable();
  return to_a && to_b && fits ? std::optional(Plan{a, b, *to_a, *to_b, to_y}) : std::nullopt;
}

/// The one with the fewest operators, of both orders of operands and the orders of axes that operands and result have.
std::optional<Plan> best_plan(const Operand& a, const Operand& b, const Operand& y, ProductAxes axes, bool apart) {
  std::optional<Plan> best;
  const auto order = [](std::string& letters, const std::string& term) {
    std::sort(letters.begin(), letters.end(), [&](char s, char t) { return term.find(s) < term.find(t); });
  };
  order(axes.summed, (a.value->known_constant() ? b : a).term);
  for (const std::string& term : {y.term, a.term, b.term}) {
    order(axes.batch, term);
    for (const bool turned : {false, true}) {
      auto plan = turned ? plan_of(b, a, y, {axes.batch, axes.right, axes.left, axes.summed}, apart)
                         : plan_of(a, b, y, axes, apart);
      if (plan && (!best || plan->cost() < best->cost())) best = std::move(plan);
    }
  }
  return best;
}

bool all_known(const Value& v, size_t rank) {
  return v.type.dims && v.type.dims->size() == rank &&
         std::all_of(v.type.dims->begin(), v.type.dims->end(), [](const Dim& d) { return d.known(); });
}

Expected<Replacement> of_two(const Match& m, const Equation& equation, Builder& builder) {
  const Operand a{m.root->input(0), equation.terms[0]}, b{m.root->input(1), equation.terms[1]},
      y{m.root->output(0), equation.result};
  for (const Operand* operand : {&a, &b, &y})
    if (!all_known(*operand->value, operand->term.size())) return Decline{"a length of an axis is not known"};
  const auto axes = ProductAxes::of(a.term, b.term, y.term);
  if (!axes) return axes.error();
  for (const char letter : axes->summed)
    if (!(a.length(letter) == b.length(letter)))
      return Decline{"its operands may broadcast along an axis that it sums"};
  if (!axes->summed.empty() && axes->left.empty() && axes->right.empty()) return Decline{"it multiplies rows by rows"};
  auto plan = best_plan(a, b, y, *axes, false);
  if (!plan) plan = best_plan(a, b, y, *axes, true);
  if (!plan) return Decline{"a shape would have to be computed"};
  const Type &type = y.value->type, of_a = Type::tensor(type.dtype, plan->to_a.dims()),
             of_b = Type::tensor(type.dtype, plan->to_b.dims());
  Value* made = builder.op(axes->summed.empty() ? "Mul" : "MatMul", {plan->to_a.make(builder, plan->a.value, of_a),
                                                                     plan->to_b.make(builder, plan->b.value, of_b)});
  if (plan->to_y.cost() == 0) return made->type = type, Replacement{made};
  return Replacement{plan->to_y.make(builder, made, type)};
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const DType type = m.root->output(0)->type.dtype;
  if (!is_float(type) && type != DType::kI32 && type != DType::kI64) return Decline{"MatMul has not its type"};
  const auto equation = Equation::of(builder.view(*m.root));
  if (!equation) return Decline{"its equation is another form"};
  if (equation->terms.size() == 1) return of_one(m, *equation, builder);
  if (equation->terms.size() != 2) return Decline{"it has more than two operands"};
  return of_two(m, *equation, builder);
}

std::vector<Rule> rules() { return {{Pattern::op("Einsum", {}).open(), rewrite}}; }

}  // namespace

const Pass replace_einsum = {"replace_einsum", "replace Einsum by the MatMul, Mul or Transpose that it is", rules};

}  // namespace mlopt::graphopt
