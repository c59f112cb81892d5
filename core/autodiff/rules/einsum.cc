#include <algorithm>
#include <iterator>
#include <map>
#include <string>

#include "core/autodiff/rules.h"

namespace mlopt::autodiff {
namespace {

constexpr std::string_view kEllipsis = "...";

/// The terms of an equation without blanks; the last is that of the output.
std::vector<std::string> terms_of(GradArgs& a) {
  std::string text = a.view.get_string("equation", "");
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  std::vector<std::string> terms(1);
  for (const char c : text.substr(0, arrow))
    if (c == ',')
      terms.emplace_back();
    else
      terms.back() += c;
  if (arrow != std::string::npos) {
    terms.push_back(text.substr(arrow + 2));
    return terms;
  }
  // The ellipsis, then the letters that occur once, sorted.
  std::map<char, int> times;
  for (const char c : text) ++times[c];
  std::string made = times.contains('.') ? std::string(kEllipsis) : "";
  for (const auto& [c, count] : times)
    if (count == 1 && c != ',' && c != '.') made += c;
  terms.push_back(made);
  return terms;
}

std::string letters(std::string_view term) {
  return std::string(term.starts_with(kEllipsis) ? term.substr(kEllipsis.size()) : term);
}

/// The gradient of input i: the product of dy and the other inputs, in which subscripts that only input i has (it was
/// summed over them) are missing and then repeated.
Value* gradient(GradArgs& a, const std::vector<std::string>& terms, size_t i) {
  std::string others, equation;
  std::vector<Value*> factors;
  for (size_t k = 0; k < terms.size(); ++k) {
    if (k == i) continue;
    others += terms[k];
    equation += (factors.empty() ? "" : ",") + terms[k];
    factors.push_back(k + 1 == terms.size() ? a.grad() : a.in(static_cast<int>(k)));
  }
  const bool spread = others.find('.') != std::string::npos;
  const auto has = [&](char c) { return others.find(c) != std::string::npos; };
  std::string kept, own = letters(terms[i]);
  std::copy_if(own.begin(), own.end(), std::back_inserter(kept), has);
  Value* made = a.op("Einsum", factors, {{"equation", equation + (spread ? "->..." : "->") + kept, {}}});
  const Dims x = a.dims(a.in(static_cast<int>(i))), found = a.dims(made);
  const auto axis = x.begin() + static_cast<std::ptrdiff_t>(x.size() - own.size());
  auto next = found.end() - static_cast<std::ptrdiff_t>(kept.size());
  Dims all(x.begin(), axis), ones(all.size(), 1);
  if (spread) all = ones = Dims(found.begin(), next);
  for (size_t k = 0; k < own.size(); ++k) {
    ones.push_back(has(own[k]) ? *next++ : 1);
    all.push_back(ones.back() == 1 ? axis[static_cast<std::ptrdiff_t>(k)] : ones.back());
  }
  return a.expanded(a.reshaped(made, ones), all);
}

std::vector<Value*> einsum(GradArgs& a) {
  const std::vector<std::string> terms = terms_of(a);
  std::vector<Value*> grads(static_cast<size_t>(a.inputs()));
  for (const std::string& term : terms) {
    std::string own = letters(term);
    std::sort(own.begin(), own.end());
    if (own.find('.') != std::string::npos) a.refuse("an ellipsis is not the first of its term");
    if (std::adjacent_find(own.begin(), own.end()) != own.end()) a.refuse("a term repeats a subscript");
  }
  for (int i = 0; i < a.inputs(); ++i)
    if (a.needs(i)) grads[static_cast<size_t>(i)] = gradient(a, terms, static_cast<size_t>(i));
  return grads;
}

constexpr GradRule kRules[] = {{"Einsum", einsum}};

}  // namespace

std::span<const GradRule> einsum_rules() { return kRules; }

}  // namespace mlopt::autodiff
