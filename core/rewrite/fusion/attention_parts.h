#pragma once
#include <array>

#include "core/rewrite/fusion/attention_site.h"
#include "core/rewrite/fusion/mask.h"
#include "core/rewrite/fusion/projection.h"

namespace mlopt::fusion {

/// A mask that has batch and heads as one axis.
struct JoinedMask {
  Joined joined;
  SymDims dims;  ///< that it gets with both
};

/// Attention as the operators spell it.
struct Site {
  Heads q, k, v;
  Value* mask = nullptr;                  ///< that is added
  std::optional<JoinedMask> joined = {};  ///< of `mask`; nothing: it has both axes, or neither
  Choice choice = {};                     ///< of keys, by a number that swallows every score
  bool causal = false;                    ///< hides later keys besides, where there is no past
  bool ordered = false;                   ///< with a past, mask or choice hide later keys and nothing else
  int64_t window = 0;  ///< mask or choice hide later keys and those so far before a query, and nothing else; 0: others
  Choice kept = {};    ///< rows whose keys it hides all become zeros, where it has a condition
  bool guarded = false;  ///< rows that are no numbers, as all of their keys are hidden, become zeros
  Value* own = nullptr;  ///< the mask that the standard's operator has already, to be taken as it is
  double scale = 1;
  double cap = 0;  ///< as in Scores
  Type type = {};  ///< of the result, [batch, rows, heads * size]
};

/// Do queries, keys and values fit?
bool fit(const Heads& q, const Heads& k, const Heads& v);

/// The shape of what hides keys, empty where nothing does; nothing where it is not known.
std::optional<SymDims> mask_dims(const Site& s);
/// What is added to the scores.
Value* added_mask(const Site& s, Builder& builder);
/// Has the mask the shape [batch or 1, heads or 1, rows or 1, keys or 1], but for leading ones? Where there is a past,
/// any that becomes so. The values take no other number of keys.
bool is_whole(const Site& s);
/// [batch, rows, ...] that they are made of, which is there whether the product is the attention's or not; null where
/// they do not come as rows.
Value* source_rows(const Heads& heads);
/// What to expand a mask to for all rows, for all keys, or both; null where no input of the graph has them as axes.
Value* repeated_shape(const Site& s, bool rows, bool keys, Builder& builder);
/// It as [batch or 1, heads or 1, rows, keys]; null where it is not that.
Value* whole_mask(const Site& s, Builder& builder);

/// What is made now, [batch, rows, heads * size].
Value* flattened(const Heads& heads, Builder& builder);
/// Are keys or values better given as [batch, heads, rows, size], which saves the way to three axes and, in the
/// operator, back? Not where a Reshape then needs a shape that is computed.
bool comes_parted(const Heads& heads);
/// Each head as often as there are queries for it: of what is made now, [batch, rows, heads * size].
Value* rows_for_all(const Heads& heads, Builder& builder);
/// The same of heads that come parted, [batch, heads, rows, size].
Value* heads_for_all(const Heads& heads, Builder& builder);
/// The three projections of one value, to be made by one product.
std::optional<std::array<Projection, 3>> packed(const Site& s);
/// The value whose thirds, one after the other, are queries, keys and values; null where they come from elsewhere.
Value* whole_of(const Site& s, const Builder& builder);

/// The standard's operator, whose mask repeats as in a sum, but for its keys: those that it lacks are hidden.
Expected<Replacement> standard_attention(const Site& s, Builder& builder);
/// ONNX Runtime's operator for heads that share keys and values, which always hides later keys.
Expected<Replacement> group_query(const Site& s, Builder& builder);
/// Can it do so? With a past it takes one sample, or one row, at a time, and as many new keys as queries.
bool suits_group_query(const Site& s);
/// Does it turn queries and keys as they are turned: alike, of heads of this size, and so much of them?
bool turns_heads(const Site& s);

}  // namespace mlopt::fusion
