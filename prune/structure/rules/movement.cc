#include <numeric>

#include "prune/structure/rules.h"

namespace mlopt::prune::rules {

void transpose(Ties& t) {
  const Value *x = t.in(0), *y = t.out();
  std::vector<int64_t> perm = t.view.get_ints("perm");
  if (perm.empty()) {
    perm.resize(static_cast<size_t>(Ties::rank(*x)));
    std::iota(perm.rbegin(), perm.rend(), 0);
  }
  for (size_t i = 0; i < perm.size(); ++i) t.tie(x, static_cast<int>(perm[i]), y, static_cast<int>(i));
}

/// What is repeated stays as often as it is.
void expand(Ties& t) {
  const Value *x = t.in(0), *y = t.out();
  const int shift = Ties::rank(*y) - Ties::rank(*x);
  for (int axis = 0; axis < Ties::rank(*y); ++axis) {
    const auto before = axis < shift ? std::optional<int64_t>(1) : Ties::size(*x, axis - shift);
    if (before == 1)
      t.pin(y, axis, "it repeats along this axis");
    else
      t.tie(x, axis - shift, y, axis);
  }
}

void rewrite_expand(Rewriting& r) { r.want_shape(1, r.node.output(0)); }

void tile(Ties& t) {
  constexpr int64_t kMostTied = 1 << 20;  // elements of an axis, which are tied one by one
  const Value *x = t.in(0), *y = t.out();
  if (t.view.opset() < 6 || Ties::rank(*x) != Ties::rank(*y)) return t.pin_node("how often it repeats is not known");
  for (int axis = 0; axis < Ties::rank(*x); ++axis) {
    const auto before = Ties::size(*x, axis), after = Ties::size(*y, axis);
    const bool known = before && after && *before >= 1 && *after % *before == 0;
    if (known && *before == 1) {
      t.pin(y, axis, "it repeats along this axis");
    } else if (!known || *after > kMostTied) {
      for (const Value* v : {x, y})
        t.pin(v, axis, known ? "it repeats too often" : "how often it repeats is not known");
    } else {
      for (int64_t i = 0; i < *after; ++i) t.tie(x, axis, i % *before, y, axis, i);
    }
  }
}

/// What goes the other way along one axis, as far as another one says: channels lie along neither.
void reverse_sequence(Ties& t) {
  const auto time = static_cast<int>(t.view.get_int("time_axis", 0));
  const auto batch = static_cast<int>(t.view.get_int("batch_axis", 1));
  for (int axis = 0; axis < Ties::rank(*t.in(0)); ++axis) {
    t.tie(t.in(0), axis, t.out(), axis);
    if (axis == time || axis == batch) t.pin(t.in(0), axis, "it turns this axis around");
  }
}

/// All its elements are equal: any of them may go.
void constant_of_shape(Ties& t) { static_cast<void>(t); }

void rewrite_constant_of_shape(Rewriting& r) { r.want_shape(0, r.node.output(0)); }

namespace {

/// `wide` has b*b channels for each of `narrow`, whose height and width are b times as large.
void tie_blocks(Ties& t, const Value* wide, const Value* narrow, bool columns_first) {
  const auto many = Ties::size(*wide, 1), few = Ties::size(*narrow, 1);
  const int64_t b = t.view.get_int("blocksize");
  t.tie(t.in(0), 0, t.out(), 0);
  for (const Value* v : {t.in(0), t.out()}) t.pin_from(v, 2, "it moves channels into this axis");
  if (!many || !few || *many != *few * b * b) {
    t.pin(wide, 1, "its channels are not known");
    t.pin(narrow, 1, "its channels are not known");
    return;
  }
  for (int64_t c = 0; c < *few; ++c)
    for (int64_t k = 0; k < b * b; ++k) t.tie(wide, 1, columns_first ? c * b * b + k : k * *few + c, narrow, 1, c);
}

}  // namespace

void depth_to_space(Ties& t) { tie_blocks(t, t.in(0), t.out(), t.view.get_string("mode", "DCR") == "CRD"); }

void space_to_depth(Ties& t) { tie_blocks(t, t.out(), t.in(0), false); }

}  // namespace mlopt::prune::rules
