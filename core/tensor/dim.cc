#include "core/tensor/dim.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "core/base/checked.h"

namespace mlopt {
namespace {

// Expressions beyond these limits are given up as unknown: they no longer help and could grow without bound.
constexpr size_t kMostTerms = 16;
constexpr size_t kMostFactors = 16;   // symbols in a product
constexpr size_t kMostLetters = 256;  // of a quotient that becomes a symbol of its own

}  // namespace

Dim::Dim(int64_t value) : known_(true) {
  if (value != 0) terms_.push_back({{}, value});
}

Dim Dim::symbol(std::string name) {
  Dim d;
  d.known_ = true;
  d.terms_.push_back({{std::move(name)}, 1});
  return d;
}

Dim Dim::from_terms(const std::vector<Term>& terms) {
  std::map<std::vector<std::string>, int64_t> sums;
  for (const auto& [symbols, factor] : terms) {
    const auto sum = checked_add(sums[symbols], factor);
    if (!sum) return {};
    sums[symbols] = *sum;
  }
  Dim d;
  d.known_ = true;
  for (auto& [symbols, factor] : sums)
    if (factor != 0) d.terms_.emplace_back(symbols, factor);
  return d.terms_.size() <= kMostTerms ? d : Dim();
}

std::optional<int64_t> Dim::value() const {
  if (!known_) return std::nullopt;
  if (terms_.empty()) return 0;
  if (terms_.size() == 1 && terms_[0].first.empty()) return terms_[0].second;
  return std::nullopt;
}

std::optional<std::string> Dim::symbol_name() const {
  if (!known_ || terms_.size() != 1 || terms_[0].first.size() != 1 || terms_[0].second != 1) return std::nullopt;
  return terms_[0].first[0];
}

std::string Dim::str() const {
  if (!known_) return "?";
  if (terms_.empty()) return "0";
  std::string text;
  // Symbols first, the integer last, as people write it.
  for (auto it = terms_.rbegin(); it != terms_.rend(); ++it) {
    const auto& [symbols, factor] = *it;
    std::string product;
    for (const std::string& s : symbols) product += (product.empty() ? "" : "*") + s;
    std::string term = symbols.empty() ? std::to_string(factor)
                       : factor == 1   ? product
                       : factor == -1  ? "-" + product
                                       : fmt::format("{}*{}", factor, product);
    if (!text.empty() && term[0] != '-') text += '+';
    text += term;
  }
  return text;
}

Dim operator+(const Dim& a, const Dim& b) {
  if (!a.known_ || !b.known_) return {};
  std::vector<Dim::Term> terms = a.terms_;
  terms.insert(terms.end(), b.terms_.begin(), b.terms_.end());
  return Dim::from_terms(terms);
}

Dim operator-(const Dim& a, const Dim& b) { return a + Dim(-1) * b; }

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is(0) || b.is(0)) return 0;
  if (!a.known_ || !b.known_) return {};
  std::vector<Dim::Term> terms;
  for (const auto& [x, p] : a.terms_)
    for (const auto& [y, q] : b.terms_) {
      int64_t factor;
      if (x.size() + y.size() > kMostFactors || __builtin_mul_overflow(p, q, &factor)) return {};
      std::vector<std::string> symbols;
      std::merge(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(symbols));
      terms.emplace_back(std::move(symbols), factor);
    }
  return Dim::from_terms(terms);
}

std::optional<Dim> Dim::divide(const Dim& a, const Dim& b) {
  if (!a.known_ || !b.known_ || b.terms_.empty()) return std::nullopt;
  // Long division: of the products of most symbols the first, which each step takes away.
  const auto leading = [](const Dim& d) {
    return *std::max_element(d.terms_.begin(), d.terms_.end(), [](const Term& x, const Term& y) {
      return x.first.size() != y.first.size() ? x.first.size() < y.first.size() : x.first > y.first;
    });
  };
  const auto [divisor, factor] = leading(b);
  Dim rest = a, found = 0;
  while (rest.known_ && !rest.terms_.empty()) {
    const auto [symbols, p] = leading(rest);
    const auto quotient = checked_div(p, factor);
    if (!quotient || *quotient * factor != p ||
        !std::includes(symbols.begin(), symbols.end(), divisor.begin(), divisor.end()))
      return std::nullopt;
    std::vector<std::string> left;
    std::set_difference(symbols.begin(), symbols.end(), divisor.begin(), divisor.end(), std::back_inserter(left));
    const Dim step = from_terms({{std::move(left), *quotient}});
    found = found + step;
    rest = rest - step * b;
  }
  return rest.known_ && found.known_ ? std::optional(found) : std::nullopt;
}

Dim Dim::floor_divide(const Dim& a, const Dim& b) {
  if (const auto exact = divide(a, b)) return *exact;
  const auto x = a.value(), y = b.value();
  if (x && y) {
    const auto quotient = checked_div(*x, *y);
    if (!quotient) return {};
    return *quotient - (*quotient * *y != *x && ((*x < 0) != (*y < 0)));
  }
  if (!a.known_ || !y || *y <= 0) return {};
  const std::string text = a.str();
  return text.size() <= kMostLetters ? symbol(fmt::format("({})//{}", text, *y)) : Dim();
}

Dim Dim::primitive_part() const {
  Dim part = *this;
  int64_t common = 0;
  for (const auto& [symbols, factor] : terms_) {
    if (factor == INT64_MIN) return part;  // its absolute value does not fit
    common = std::gcd(common, factor);
  }
  for (auto& [symbols, factor] : part.terms_) factor /= common;
  return part;
}

bool operator==(const Dim& a, const Dim& b) { return a.known_ && b.known_ && a.terms_ == b.terms_; }

std::string to_string(const SymDims& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? "," : "") + dims[i].str();
  return text + "]";
}

}  // namespace mlopt
