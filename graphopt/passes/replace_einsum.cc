// Einsum that is a MatMul of both operands, one of them perhaps with its last axes swapped -> MatMul, Transpose;
// Einsum that only orders the axes of one operand -> Transpose.
#include <algorithm>

#include "core/base/text.h"
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

struct Equation {
  std::vector<std::string> terms;  ///< of the operands, one letter an axis
  std::string result;
};

bool distinct(std::string term) {
  std::sort(term.begin(), term.end());
  return std::adjacent_find(term.begin(), term.end()) == term.end();
}

/// Nothing for implicit results, ellipses and letters that a term has twice.
std::optional<Equation> parse(std::string text) {
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  if (arrow == std::string::npos || text.find('.') != std::string::npos) return std::nullopt;
  Equation found{split(text.substr(0, arrow), ','), text.substr(arrow + 2)};
  if (!distinct(found.result)) return std::nullopt;
  for (const std::string& term : found.terms)
    if (!distinct(term)) return std::nullopt;
  return found;
}

Expected<Replacement> permute(const Match& m, const Equation& equation, Builder& builder) {
  const std::string& from = equation.terms[0];
  if (from.size() != equation.result.size()) return Decline{"it does more than order axes"};
  std::vector<int64_t> perm;
  for (const char letter : equation.result) {
    const size_t at = from.find(letter);
    if (at == std::string::npos) return Decline{"it does more than order axes"};
    perm.push_back(static_cast<int64_t>(at));
  }
  return Replacement{builder.op("Transpose", {m.root->input(0)}, {{"perm", perm, {}}}, m.root->output(0)->type)};
}

/// `v` with its last two axes swapped.
Value* swapped(Value* v, size_t rank, Builder& builder) {
  std::vector<int64_t> perm(rank);
  for (size_t i = 0; i < rank; ++i) perm[i] = static_cast<int64_t>(i);
  std::swap(perm[rank - 1], perm[rank - 2]);
  return builder.op("Transpose", {v}, {{"perm", perm, {}}});
}

/// Letters of batch axes, which both operands have first, and last axes: "bij,bjk->bik".
Expected<Replacement> multiply(const Match& m, const Equation& equation, Builder& builder) {
  const std::string &a = equation.terms[0], &b = equation.terms[1], &y = equation.result;
  const Decline other = {"it is no product of matrices in order"};
  if (a.size() < 2 || b.size() < 2 || y.size() < 2 || a.size() != y.size()) return other;
  const std::string batch = y.substr(0, y.size() - 2);
  if (a.substr(0, batch.size()) != batch || (b.size() > 2 && b.substr(0, b.size() - 2) != batch)) return other;
  const char row = y[y.size() - 2], column = y.back();
  const std::string left = a.substr(a.size() - 2), right = b.substr(b.size() - 2);
  if (left[0] != row || (right[0] != column && right[1] != column)) return other;
  const bool transposed = right[0] == column;
  const char summed = transposed ? right[1] : right[0];
  if (left[1] != summed || y.find(summed) != std::string::npos || right.find(row) != std::string::npos) return other;
  const auto &da = m.root->input(0)->type.dims, &db = m.root->input(1)->type.dims;
  if (!da || !db || da->size() != a.size() || db->size() != b.size() ||
      !(da->back() == (*db)[db->size() - (transposed ? 1 : 2)]))
    return Decline{"its operands may broadcast along the axis that it sums"};
  Value* second = transposed ? swapped(m.root->input(1), b.size(), builder) : m.root->input(1);
  return Replacement{builder.op("MatMul", {m.root->input(0), second}, {}, m.root->output(0)->type)};
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const auto equation = parse(builder.view(*m.root).get_string("equation", ""));
  if (!equation || equation->terms.size() != m.root->inputs().size()) return Decline{"its equation is another form"};
  if (equation->terms.size() == 1) return permute(m, *equation, builder);
  if (equation->terms.size() != 2) return Decline{"it has more than two operands"};
  return multiply(m, *equation, builder);
}

std::vector<Rule> rules() { return {{Pattern::op("Einsum", {}).open(), rewrite}}; }

}  // namespace

const Pass replace_einsum = {"replace_einsum", "replace Einsum by the MatMul or Transpose that it is", rules};

}  // namespace mlopt::graphopt
