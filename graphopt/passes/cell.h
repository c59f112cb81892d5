#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/rewrite/pass.h"

// The cell of a recurrent layer in the body of a Loop, as TensorFlow's exporter leaves GRU and SimpleRNN.
namespace mlopt::graphopt {

/// Some columns of a constant matrix, or of a constant row.
struct Columns {
  const Value* of = nullptr;
  int64_t first = 0, count = 0;
};

/// x W + s R + b: a gate before its activation. x is the entry of the sequence, s the state or a product with it.
struct Affine {
  std::optional<Columns> x, s;   ///< W [inputs, width] and R [state, width]; none: there is no such product
  const Value* state = nullptr;  ///< s
  std::vector<Columns> bias;     ///< whose sum is b
};

/// A gate as the recurrent operators take it: W, R and the biases of both.
struct Gate {
  Columns x, s;
  std::vector<Columns> x_bias, s_bias;
};

/// The value before an activation that the recurrent operators call as its own operator is called.
struct Activated {
  std::string by;
  const Value* of = nullptr;
};
std::optional<Activated> activated(const Value* v);

/// v where the other operand of the product is `other`; null for other values.
const Value* factor_beside(const Value* product, const Value* other);

/// A Loop over all entries of a sequence that carries one state and gives nothing else for each entry. That a runtime
/// may not take a sequence without entries in the operator, of which a Loop makes nothing, is not minded.
class Cell {
 public:
  /// Declines other Loops, with a reason where one carries a state only.
  static Expected<Cell> of(const Node& loop, const Builder& builder);

  const Value* state() const { return state_; }
  const Value* next() const { return next_; }  ///< state
  std::optional<Affine> affine(const Value* v) const { return affine(v, kMostSteps); }

  /// What takes the place of the Loop, which is the match's root: `op`, whose gates are in its own order.
  Expected<Replacement> replace(const std::string& op, const std::vector<Gate>& gates, std::vector<Attr> attrs,
                                const Match& m, Builder& builder) const;

 private:
  static constexpr int kMostSteps = 16;  // from a gate back to the products

  std::optional<Affine> affine(const Value* v, int steps) const;
  std::optional<Affine> product(const Node& node) const;
  std::optional<Affine> sum(const Node& node, int steps) const;
  std::optional<Affine> part(const Value& v, int steps) const;

  int64_t opset_ = 0;
  Value *sequence_ = nullptr, *initial_ = nullptr;
  const Value *entry_ = nullptr, *state_ = nullptr, *next_ = nullptr;
};

}  // namespace mlopt::graphopt
