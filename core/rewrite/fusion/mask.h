#pragma once
#include <optional>
#include <utility>

#include "core/rewrite/pass.h"

namespace mlopt::fusion {

/// Numbers that hide keys of attention, of which the source adds at most this.
inline constexpr double kHidden = -9999;

/// Scores that are replaced by a number where a condition says so.
struct Choice {
  Value* condition = nullptr;  ///< null: there is none
  bool seen = true;            ///< whether its true elements are the keys that are seen
  double hidden = 0;           ///< what is in the place of the others
};

/// Where(condition, x, number) or Where(condition, number, x) for x of any shape; nothing for other values.
std::optional<std::pair<Choice, Value*>> choice_of(const Value* v);

/// A mask that hides keys of a sample from all of its queries.
struct PaddingMask {
  Value* keys = nullptr;  ///< [batch, keys], bool
  bool seen = true;       ///< whether it is true where the key is seen, or where it is hidden
  double hidden = 0;      ///< what is added to the scores of hidden keys
};

/// The mask [batch, 1, 1 or queries, keys] that is added to scores, where it is one for padding.
std::optional<PaddingMask> padding_of(const Value* mask);
/// The same of a condition of that shape.
std::optional<PaddingMask> padding_of(const Choice& choice);

/// Is it sure that what is added to scores (null: nothing) leaves in each row a key that minus infinity does not hide?
/// Else the probabilities of a row may be no numbers.
bool leaves_keys(const Value* mask);

}  // namespace mlopt::fusion
