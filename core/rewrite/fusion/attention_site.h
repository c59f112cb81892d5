#pragma once
#include <optional>
#include <utility>

#include "core/rewrite/pass.h"

namespace mlopt::fusion {

/// scale q k^T + mask, the scores that a softmax of attention takes.
struct Scores {
  Value *q = nullptr, *k = nullptr, *mask = nullptr;  ///< k as it is multiplied: [..., size, keys]; null: no mask
  double scale = 1;
};

/// The operands of scores that nothing else reads; q null where they are not that.
Scores scores_of(Value* scores);

/// The operand of a product with, or a quotient by, a number, which joins the scale; else the value itself.
Value* unscaled(Value* v, double& scale);

/// Equal dimensions, but for the axes in `other`.
bool same_but(const SymDims& a, const SymDims& b, std::initializer_list<size_t> other);

/// A value [batch, heads, rows, size], or turned keys [batch, heads, size, rows], and what it was made from.
struct Heads {
  Value* flat = nullptr;   ///< [batch, rows, heads * size]
  int64_t count = 0;       ///< heads
  int64_t size = 0;        ///< of each
  int64_t repeats = 1;     ///< so many neighbouring heads of the result are one of these
  Value* table = nullptr;  ///< of the cosines that it was turned by (RoPE): [positions, size / 2]; null: it was not
  Value* sines = nullptr;  ///< the same
  double scale = 1;        ///< that it was multiplied by
};

/// Takes the value apart as far as nothing else reads what is between; nothing where it is not split into heads.
std::optional<Heads> heads_of(Value* v, bool turned, const Builder& builder);

}  // namespace mlopt::fusion
