#pragma once
#include <initializer_list>
#include <optional>
#include <string_view>

#include "prune/structure/rewriting.h"
#include "prune/structure/rule.h"

// Heads of attention that is one operator: whole ones go, or the same dimensions of all of them.
namespace mlopt::prune::rules {

/// Heads side by side on an axis, `size` elements each; 1 where they have an axis of their own.
struct Heads {
  const Value* value = nullptr;  ///< null: none
  int axis = 0;
  int64_t first = 0, count = 0, size = 1;
};

/// Heads of a value [batch, rows, heads * size] or [batch, heads, rows, size]; none where that does not come out even.
Heads heads_of(const Value* v, int64_t count);
/// Of a bias or mask of scores that has numbers for each head, on the third axis from the end.
Heads of_scores(const Value* v, int64_t count);
/// What of such values are dimensions of heads: those of each where they lie side by side, else the last axis, the axis
/// of the heads then stays.
Heads dimensions_of(Ties& t, const Value* v, int64_t count);

/// Head h of `a` with the head of `b` that it reads: those of b are as many or fewer, each for as many of a's.
void tie_heads(Ties& t, const Heads& a, const Heads& b);
/// All elements of each head with one another.
void tie_within(Ties& t, const Heads& a);
/// The same element of all heads of all of these; false where they differ in size.
bool tie_across(Ties& t, std::initializer_list<Heads> all);

/// How many heads are left of so many.
std::optional<int64_t> heads_left(const Rewriting& r, const Heads& heads);
/// The same for what heads_of() finds; the attribute says it afterwards.
void set_heads(Rewriting& r, std::string_view attr, const Value* v);
/// Writes the scale where it is the usual one of heads that are of so many dimensions before some go.
void keep_scale(Rewriting& r, int64_t size);
/// The same for these, where all of them stay and each is smaller than it was.
void keep_scale(Rewriting& r, const Heads& queries);

}  // namespace mlopt::prune::rules
