#include <algorithm>
#include <string_view>

#include "core/ir/infer_types.h"

namespace mlopt::infer_rules {
namespace {

// A length that is either of two, the other then being 1, is a symbol of its own: "(a or b)".
constexpr std::string_view kOr = " or ";
constexpr size_t kMostLetters = 256;

/// The lengths that the dimension is one of, sorted: itself, but for what either() made.
std::vector<std::string> choices(const Dim& d) {
  const std::string text = d.str();
  const auto name = d.symbol_name();
  if (!name || !name->starts_with("(") || !name->ends_with(")")) return {text};
  std::vector<std::string> found{""};
  int depth = 0;
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    depth += (text[i] == '(') - (text[i] == ')');
    if (depth == 0 && std::string_view(text).substr(i).starts_with(kOr)) {
      found.emplace_back();
      i += kOr.size() - 1;
    } else {
      found.back() += text[i];
    }
  }
  return found;
}

/// In a fixed order, so that the same lengths have the same name.
Dim either(const Dim& a, const Dim& b) {
  if (!a.known() || !b.known()) return {};
  std::vector<std::string> all = choices(a);
  for (std::string& text : choices(b)) all.push_back(std::move(text));
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::string name;
  for (const std::string& text : all) name += (name.empty() ? "(" : kOr.data()) + text;
  return name.size() < kMostLetters ? Dim::symbol(name + ")") : Dim();
}

}  // namespace

std::string at_most(const std::string& of, int64_t most) { return "min(" + of + "," + std::to_string(most) + ")"; }

bool is_part_of(const Dim& part, const Dim& whole) {
  if (!part.symbol_name() || !whole.known()) return false;
  const std::vector<std::string> all = choices(whole);
  return std::any_of(all.begin(), all.end(), [name = *part.symbol_name()](const std::string& of) {
    return name.starts_with("min(" + of + ",") && name.ends_with(")");
  });
}

bool is_choice_of(const Dim& part, const Dim& whole) {
  if (!part.known() || !whole.known()) return false;
  if (part.is(1)) return true;
  const std::vector<std::string> parts = choices(part), all = choices(whole);
  return std::includes(all.begin(), all.end(), parts.begin(), parts.end());
}

Dim broadcast_dim(const Dim& a, const Dim& b) {
  if (a.is(1)) return b;
  if (b.is(1) || a == b) return a;
  if (a.value()) return a;
  if (b.value()) return b;
  if (is_part_of(b, a)) return a;  // a table was cut to that length: a shorter one could not be added
  if (is_part_of(a, b)) return b;
  return either(a, b);
}

std::optional<SymDims> broadcast_dims(const std::optional<SymDims>& a, const std::optional<SymDims>& b) {
  if (!a || !b) return std::nullopt;
  const SymDims& longer = a->size() >= b->size() ? *a : *b;
  const SymDims& shorter = a->size() >= b->size() ? *b : *a;
  SymDims out = longer;
  for (size_t i = 1; i <= shorter.size(); ++i)
    out[out.size() - i] = broadcast_dim(out[out.size() - i], shorter[shorter.size() - i]);
  return out;
}

std::optional<SymDims> product_dims(const std::optional<SymDims>& a, const std::optional<SymDims>& b) {
  if (!a || !b || a->empty() || b->empty()) return std::nullopt;
  const size_t cut_a = std::min<size_t>(2, a->size()), cut_b = std::min<size_t>(2, b->size());
  SymDims out = *broadcast_dims(SymDims(a->begin(), a->end() - static_cast<std::ptrdiff_t>(cut_a)),
                                SymDims(b->begin(), b->end() - static_cast<std::ptrdiff_t>(cut_b)));
  if (a->size() > 1) out.push_back((*a)[a->size() - 2]);
  if (b->size() > 1) out.push_back(b->back());
  return out;
}

}  // namespace mlopt::infer_rules
