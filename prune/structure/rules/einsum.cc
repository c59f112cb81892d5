#include <algorithm>
#include <map>

#include "core/base/text.h"
#include "prune/structure/rules.h"

namespace mlopt::prune::rules {
namespace {

/// A letter for each axis of each input, and of the output.
struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

/// Nothing for what is not followed: an ellipsis, a diagonal, an output that is left to be found out.
std::optional<Equation> parsed(std::string text) {
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  if (arrow == std::string::npos || text.find('.') != std::string::npos) return std::nullopt;
  Equation found{mlopt::split(text.substr(0, arrow), ','), text.substr(arrow + 2)};
  for (const std::string& term : found.inputs)
    for (const char letter : term)
      if (std::count(term.begin(), term.end(), letter) > 1) return std::nullopt;
  return found;
}

}  // namespace

// One letter is one axis, wherever it stands; a letter that the output lacks is summed over.
void einsum(Ties& t) {
  const auto equation = parsed(t.view.get_string("equation", ""));
  bool fits = equation && equation->inputs.size() == t.view.node().inputs().size() &&
              static_cast<int>(equation->output.size()) == Ties::rank(*t.out());
  for (size_t i = 0; fits && i < equation->inputs.size(); ++i)
    fits = static_cast<int>(equation->inputs[i].size()) == Ties::rank(*t.in(static_cast<int>(i)));
  if (!fits) return t.pin_node("its equation is not followed");
  std::map<char, std::pair<int, int>> summed;  // letter -> where the sum is masked
  std::map<char, int> computed;                // inputs that are no weights
  for (int i = 0; i < static_cast<int>(equation->inputs.size()); ++i) {
    const std::string& term = equation->inputs[static_cast<size_t>(i)];
    const bool weight = t.fixed(*t.in(i));
    for (int axis = 0; axis < static_cast<int>(term.size()); ++axis) {
      const char letter = term[static_cast<size_t>(axis)];
      const size_t at = equation->output.find(letter);
      if (!weight) ++computed[letter];
      if (at == std::string::npos) {
        const auto [first, fresh] = summed.try_emplace(letter, i, axis);
        if (!fresh) t.tie(t.in(i), axis, t.in(first->second.first), first->second.second);
        if (!weight) first->second = {i, axis};
      } else if (Ties::size(*t.in(i), axis) != 1 || Ties::size(*t.out(), static_cast<int>(at)) == 1) {
        t.tie(t.in(i), axis, t.out(), static_cast<int>(at));
        if (weight) t.produces(t.in(i), axis);
      }
    }
  }
  for (const auto& [letter, place] : summed) t.contracts(place.first, place.second);
  for (size_t at = 0; at < equation->output.size(); ++at)
    if (computed[equation->output[at]] > 1) t.heads(t.out(), static_cast<int>(at));
}

}  // namespace mlopt::prune::rules
