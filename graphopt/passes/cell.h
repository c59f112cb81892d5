#pragma once
#include <optional>
#include <string>
#include <vector>

#include "graphopt/passes/lanes.h"

// What one step of a recurrent layer computes, be it in the body of a Loop or written out for each entry of a sequence.
namespace mlopt::graphopt {

/// Some columns of a constant matrix, or of a constant row, or of all rows of one that are equal.
struct Columns {
  const Value* of = nullptr;
  int64_t first = 0, count = 0;
  bool transposed = false;  ///< columns of the matrix transposed, which are its rows

  const Tensor& numbers() const;
  int64_t rows() const { return numbers().dim(transposed ? 1 : 0); }  ///< of a matrix
  double at(int64_t row, int64_t column) const;                       ///< of a matrix
};

/// x W + s R + b: a gate before its activation. x is the entry of the sequence, s the state or a product with it.
struct Affine {
  std::optional<Columns> x, s;   ///< W [inputs, width] and R [state, width]; none: there is no such product
  const Value* state = nullptr;  ///< s
  std::vector<Columns> bias;     ///< whose sum is b
};

/// The value before an activation that the recurrent operators call as its own operator is called.
struct Activated {
  std::string by;
  Value* of = nullptr;
};
std::optional<Activated> activated(const Value* v);

/// The entry of a sequence, [steps, batch, inputs] or [batch, steps, inputs], that v is, which may be taken of the
/// sequence in reverse.
std::optional<Piece> entry_at(const Value* v, const Builder& builder);

class Cell {
 public:
  /// A step that is given `entry` of a sequence and `state`.
  Cell(const Value* entry, const Value* state, const Value* next, const Builder& builder)
      : builder_(&builder), entry_(entry), state_(state), next_(next) {}
  /// A step that is given a piece of a sequence and `state`; null: zeros, which may have been computed with.
  Cell(Piece piece, const Value* state, const Value* next, const Builder& builder)
      : builder_(&builder), piece_(piece), state_(state), next_(next) {}

  const Value* next() const { return next_; }  ///< state
  bool is_state(const Value* v) const;
  /// v where the other operand of the product is the state; null for other values.
  const Value* factor_beside_state(const Value* product) const;

  std::optional<Affine> affine(const Value* v) const { return affine(v, kMostSteps); }
  /// A gate of entry and state; one of the entry alone where the state is zeros.
  std::optional<Affine> gate(const Value* v) const;
  bool is_of_state(const Affine& a) const { return a.s ? is_state(a.state) : !state_; }

 private:
  static constexpr int kMostSteps = 16;  // from a gate back to the products

  bool is_entry(const Value* v) const;
  std::optional<Columns> row(const Value* v) const;
  std::optional<Affine> affine(const Value* v, int steps) const;
  std::optional<Affine> product(const Node& node) const;
  std::optional<Affine> sum(const Node& node, int steps) const;
  std::optional<Affine> part(const Value& v, int steps) const;

  const Builder* builder_;
  const Value* entry_ = nullptr;
  std::optional<Piece> piece_;
  const Value *state_, *next_;
};

}  // namespace mlopt::graphopt
