#include "graphopt/passes/einsum.h"

#include <algorithm>

#include "core/base/text.h"

namespace mlopt::graphopt {
namespace {

constexpr std::string_view kEllipsis = "...";
constexpr std::string_view kAxes = "0123456789";  ///< letters of an ellipsis, whose last axes are those of all operands

bool has(const std::string& term, char letter) { return term.find(letter) != std::string::npos; }

bool distinct(std::string term) {
  std::sort(term.begin(), term.end());
  return std::adjacent_find(term.begin(), term.end()) == term.end();
}

/// The term with `count` letters in the place of its ellipsis; false where there are too many.
bool spell_out(std::string& term, size_t count) {
  const size_t at = term.find(kEllipsis);
  if (at == std::string::npos) return count == 0;
  if (count > kAxes.size()) return false;
  term.replace(at, kEllipsis.size(), kAxes.substr(kAxes.size() - count));
  return term.find('.') == std::string::npos;
}

/// What has no result gets the letters that occur once, in alphabetical order, behind the ellipsis.
std::string implied_result(const std::vector<std::string>& terms) {
  const std::string all = join(terms, "");
  std::string letters;
  for (const char letter : all)
    if (letter != '.' && std::count(all.begin(), all.end(), letter) == 1) letters += letter;
  std::sort(letters.begin(), letters.end());
  return (has(all, '.') ? std::string(kEllipsis) : "") + letters;
}

}  // namespace

std::optional<Equation> Equation::of(const NodeView& einsum) {
  std::string text = einsum.get_string("equation", "");
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  Equation found{split(text.substr(0, arrow), ','), ""};
  found.result = arrow == std::string::npos ? implied_result(found.terms) : text.substr(arrow + 2);
  if (found.terms.size() != einsum.node().inputs().size()) return std::nullopt;
  size_t longest = 0;
  for (size_t i = 0; i < found.terms.size(); ++i) {
    std::string& term = found.terms[i];
    const auto& dims = einsum.node().input(static_cast<int>(i))->type.dims;
    const size_t letters = term.size() - (has(term, '.') ? kEllipsis.size() : 0);
    if (!dims || dims->size() < letters || !spell_out(term, dims->size() - letters)) return std::nullopt;
    longest = std::max(longest, dims->size() - letters);
  }
  if (has(found.result, '.') && !spell_out(found.result, longest)) return std::nullopt;
  const std::string all = join(found.terms, "");
  for (const char letter : found.result)
    if (!has(all, letter)) return std::nullopt;
  const bool distinct_terms = std::all_of(found.terms.begin(), found.terms.end(), distinct);
  return distinct_terms && distinct(found.result) ? std::optional(found) : std::nullopt;
}

Expected<ProductAxes> ProductAxes::of(const std::string& a, const std::string& b, const std::string& result) {
  ProductAxes axes;
  for (const char letter : result) (has(a, letter) ? has(b, letter) ? axes.batch : axes.left : axes.right) += letter;
  for (const char letter : a)
    if (!has(result, letter)) axes.summed += letter;
  for (const std::string* term : {&a, &b})
    for (const char letter : *term)
      if (!has(result, letter) && !(has(a, letter) && has(b, letter)))
        return Decline{"it sums an axis of one operand alone"};
  return axes;
}

}  // namespace mlopt::graphopt
