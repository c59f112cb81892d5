#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mlopt {

/// A dimension of a symbolic shape: an integer polynomial over named symbols ("2*N+1"), or unknown. Equality means
/// provably equal: an unknown dimension equals nothing, not even itself.
class Dim {
 public:
  Dim() = default;     ///< unknown
  Dim(int64_t value);  // NOLINT(google-explicit-constructor)
  static Dim symbol(std::string name);

  bool known() const { return known_; }  ///< an integer or an expression of symbols
  std::optional<int64_t> value() const;  ///< when it is a plain integer
  bool is(int64_t v) const { return value() == v; }
  /// The symbol's name when it is exactly one symbol.
  std::optional<std::string> symbol_name() const;
  /// "5", "N", "2*N+1", "?" for unknown.
  std::string str() const;

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  /// a / b when b divides a exactly as a polynomial with integer coefficients, else nothing.
  static std::optional<Dim> divide(const Dim& a, const Dim& b);
  /// floor(a / b): exact where possible, else an opaque symbol "(a)//b" (b a positive integer), else unknown.
  static Dim floor_divide(const Dim& a, const Dim& b);
  /// Divided by the largest integer that divides all its coefficients; its sign stays.
  Dim primitive_part() const;
  friend bool operator==(const Dim& a, const Dim& b);

 private:
  using Term = std::pair<std::vector<std::string>, int64_t>;  // sorted symbols of the product, coefficient
  static Dim from_terms(const std::vector<Term>& terms);
  std::vector<Term> terms_;  // sorted by symbols; no zero coefficients; empty means 0
  bool known_ = false;
};

/// A symbolic shape; the rank is known.
using SymDims = std::vector<Dim>;
std::string to_string(const SymDims& dims);

}  // namespace mlopt
