// Einsum of three or more operands -> Einsum of two of them, and Einsum of what that gives and the others.
#include <algorithm>
#include <map>

#include "core/base/text.h"
#include "graphopt/passes.h"
#include "graphopt/passes/einsum.h"

namespace mlopt::graphopt {
namespace {

bool has(const std::string& letters, char letter) { return letters.find(letter) != std::string::npos; }

bool is_part(const std::string& some, const std::string& all) {
  return std::all_of(some.begin(), some.end(), [&](char letter) { return has(all, letter); });
}

/// How large values with axes of these letters are.
class Sizes {
 public:
  Sizes(const Node& einsum, const Equation& equation) {
    for (size_t i = 0; i < equation.terms.size(); ++i)
      for (size_t k = 0; k < equation.terms[i].size(); ++k)
        add(equation.terms[i][k], (*einsum.inputs()[i]->type.dims)[k]);
  }

  /// In elements, or in axes where the length of one of the Einsum's is not known.
  double of(const std::string& letters) const {
    double size = 1;
    for (const char letter : letters) size *= static_cast<double>(lengths_.at(letter));
    return known_ ? size : static_cast<double>(letters.size());
  }

 private:
  void add(char letter, const Dim& length) {
    known_ &= length.value().has_value();
    int64_t& longest = lengths_[letter];  // axes of length 1 are repeated along others
    longest = std::max(longest, length.value().value_or(0));
  }

  std::map<char, int64_t> lengths_;
  bool known_ = true;
};

/// The axes of two operands that the result or another operand has too, those of the result first, in its order.
std::string kept_axes(const Equation& equation, size_t a, size_t b) {
  std::string others = equation.result, kept;
  for (size_t i = 0; i < equation.terms.size(); ++i)
    if (i != a && i != b) others += equation.terms[i];
  for (const char letter : equation.terms[a] + equation.terms[b])
    if (has(others, letter) && !has(kept, letter)) kept += letter;
  std::stable_sort(kept.begin(), kept.end(),
                   [&](char s, char t) { return equation.result.find(s) < equation.result.find(t); });
  return kept;
}

struct Pair {
  size_t a = 0, b = 0;
  std::string kept;
};

/// The first one of those whose product is the smallest.
Pair smallest_pair(const Equation& equation, const Sizes& sizes) {
  std::optional<Pair> best;
  for (size_t a = 0; a < equation.terms.size(); ++a)
    for (size_t b = a + 1; b < equation.terms.size(); ++b) {
      std::string kept = kept_axes(equation, a, b);
      if (!best || sizes.of(kept) < sizes.of(best->kept)) best = Pair{a, b, std::move(kept)};
    }
  return *best;
}

/// The axes of a product in the order that takes the fewest Transposes: of the operand that has all of them, or as
/// MatMul gives them.
Expected<std::string> term_of(const Equation& equation, const Pair& pair) {
  const std::string &a = equation.terms[pair.a], &b = equation.terms[pair.b], &result = equation.result;
  const auto axes = ProductAxes::of(a, b, pair.kept);
  if (!axes) return axes.error();
  for (const std::string* term : {&a, &b})
    if (term->size() == pair.kept.size() && is_part(*term, pair.kept)) return *term;
  const std::string &left = axes->left, &right = axes->right;
  const bool turned = !left.empty() && !right.empty() && has(result, left.front()) &&
                      result.find(right.front()) < result.find(left.front());
  return axes->batch + (turned ? right + left : left + right);
}

Value* make_einsum(Builder& builder, const Equation& equation, std::vector<Value*> operands, Type type) {
  return builder.op("Einsum", std::move(operands),
                    {{"equation", join(equation.terms, ",") + "->" + equation.result, {}}}, std::move(type));
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  if (m.root->inputs().size() < 3) return Decline{};
  // What two operands give would be rounded to half a float.
  if (const DType type = m.root->output(0)->type.dtype; type != DType::kF32 && type != DType::kF64)
    return Decline{"it is not of float32 or float64"};
  const NodeView view = builder.view(*m.root);
  if (has(view.get_string("equation", ""), '.')) return Decline{"its equation has an ellipsis"};
  auto equation = Equation::of(view);
  if (!equation) return Decline{"its equation is another form"};
  const Sizes sizes(*m.root, *equation);
  const Pair pair = smallest_pair(*equation, sizes);
  double largest = sizes.of(equation->result);
  for (const std::string& term : equation->terms) largest = std::max(largest, sizes.of(term));
  if (sizes.of(pair.kept) > largest) return Decline{"the product of any two of its operands is larger than all else"};
  const auto term = term_of(*equation, pair);
  if (!term) return term.error();
  std::vector<Value*> operands = m.root->inputs();
  operands[pair.a] = make_einsum(builder, {{equation->terms[pair.a], equation->terms[pair.b]}, *term},
                                 {operands[pair.a], operands[pair.b]}, {});
  equation->terms[pair.a] = *term;
  const auto second = static_cast<std::ptrdiff_t>(pair.b);
  operands.erase(operands.begin() + second);
  equation->terms.erase(equation->terms.begin() + second);
  return Replacement{make_einsum(builder, *equation, std::move(operands), m.root->output(0)->type)};
}

std::vector<Rule> rules() { return {{Pattern::op("Einsum", {}).open(), rewrite}}; }

}  // namespace

const Pass split_einsum = {"split_einsum", "take Einsum of many operands apart into products of two", rules};

}  // namespace mlopt::graphopt
