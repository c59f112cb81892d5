#pragma once
#include <optional>
#include <utility>

#include "core/rewrite/axis_map.h"
#include "core/rewrite/fusion/mask.h"

namespace mlopt::fusion {

/// scale q k^T + mask, the scores that a softmax of attention takes, or cap tanh(scale q k^T / cap) + mask.
struct Scores {
  Value *q = nullptr, *k = nullptr, *mask = nullptr;  ///< [..., queries, size], see `turned`; null: no mask
  bool turned = true;                                 ///< k is [..., size, keys], else [..., keys, size]
  const Value* product = nullptr;                     ///< of both, scaled: [..., queries, keys]
  Choice choice = {};                                 ///< of scores that are hidden by another number in their place
  double scale = 1;
  double cap = 0;  ///< 0: there is no tanh
};

/// Is it an operator's result that one operator reads, and nothing else?
bool is_inner(const Value* v);
/// What makes such a value; null where it is another operator.
const Node* made_by(const Value* v, std::string_view op, std::string_view domain = "");

/// The operands of scores that nothing else reads; q null where they are not that.
Scores scores_of(Value* scores);
/// Said of scores whose condition may have more samples or heads than they have.
inline constexpr const char* kMayRepeat =
    "what hides keys may repeat the scores; --fix NAME=OTHER says which of the inputs' dimensions are the same";
/// Said of scores that are hidden by a number that other scores may come near.
inline constexpr const char* kHiddenBySmall =
    "a row without keys would be another one, as its scores are hidden by a small number";
/// The same, of scores also where a condition puts a number in their place, and where none is below the least number.
Expected<Scores> chosen_scores_of(Value* scores, const Builder& builder);

/// The operand of a product with, or a quotient by, a number, which joins the scale; else the value itself.
Value* unscaled(Value* v, double& scale);

/// Equal dimensions, but for the axes in `other`.
bool same_but(const SymDims& a, const SymDims& b, std::initializer_list<size_t> other);

/// Queries, keys or values, and what they were made from.
struct Heads {
  Value* parted = nullptr;  ///< [batch, heads, rows, size], before they are repeated; null: they come turned, or joined
  Value* source = nullptr;  ///< neither repeated nor rotated
  std::optional<AxisMap> way;  ///< from `source` to [batch, rows, heads * size]
  bool shared = false;         ///< others read what is between
  Dim batch, rows;             ///< the rows that scores see: those of the past, then those made now
  Dim made;                    ///< rows that `way` gives
  int64_t count = 0;           ///< heads
  int64_t size = 0;            ///< of each
  int64_t repeats = 1;         ///< so many neighbouring heads of the result are one of these
  Value* cosines = nullptr;    ///< of RotaryEmbedding from position 0, [positions, size / 2]; null: there is none
  Value* sines = nullptr;      ///< the same
  bool interleaved = false;    ///< they turn neighbours
  double scale = 1;            ///< that `source` was multiplied by
  Value* past = nullptr;       ///< [batch, heads, earlier rows, size] in front of what is made now; null: none
  Value* present = nullptr;    ///< both, one after the other

  /// [batch, rows, heads * size] that they were split from; null: they were made otherwise.
  Value* flat() const { return way->cost() == 0 ? source : nullptr; }
  /// Do they lie as [batch, rows, heads * size] already?
  bool beside() const { return way->in_order(); }
};

/// Where [batch, rows, heads * size] lies as [batch, heads, rows, size]; nothing where dimensions are not known.
std::optional<AxisMap> parted(const Dim& batch, const Dim& rows, const Dim& heads, const Dim& size);

/// What the operator to be written can do by itself.
struct Abilities {
  bool rotates = false;  ///< queries and keys
  bool keeps = false;    ///< puts new keys and values behind those of the past
  bool repeats = true;   ///< takes one head of keys and values for several of queries
};

/// What one axis in front of rows is made of.
struct Joined {
  Dim batch;
  int64_t heads = 0;
};

/// Takes a value [batch, heads, rows, size], or `turned` keys [batch, heads, size, rows], apart as far as nothing else
/// reads what is between; its first axis may be both where `joined` says of what. Nothing where heads and size are not
/// known.
std::optional<Heads> heads_of(Value* v, bool turned, const Abilities& able, const Builder& builder,
                              const std::optional<Joined>& joined = {});

}  // namespace mlopt::fusion
