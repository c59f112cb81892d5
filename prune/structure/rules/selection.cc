#include <algorithm>

#include "core/ir/slice_span.h"
#include "core/tensor/cast.h"
#include "prune/structure/rules.h"

namespace mlopt::prune::rules {
namespace {

/// One axis of a Slice.
struct Span {
  int axis = 0;
  int64_t start = 0, end = 0, step = 1;
};

/// What a Slice takes; nothing where it is computed at run time.
std::optional<std::vector<Span>> spans_of(const NodeView& view, int rank) {
  const bool old = view.opset() < 10;
  const auto starts = view.ints("starts", 1), ends = view.ints("ends", 2), axes = view.ints("axes", 3);
  const auto steps = old ? std::optional<std::vector<int64_t>>(std::in_place) : view.ints("steps", 4);
  if (!starts || !ends || !axes || !steps || starts->size() != ends->size()) return std::nullopt;
  std::vector<Span> spans;
  for (size_t i = 0; i < starts->size(); ++i) {
    int64_t axis = i < axes->size() ? (*axes)[i] : static_cast<int64_t>(i);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return std::nullopt;
    spans.push_back({static_cast<int>(axis), (*starts)[i], (*ends)[i], i < steps->size() ? (*steps)[i] : 1});
    if (spans.back().step == 0) return std::nullopt;
  }
  return spans;
}

int64_t kept_below(const std::vector<int64_t>& kept, int64_t position) {
  return std::lower_bound(kept.begin(), kept.end(), position) - kept.begin();
}

/// Integers of an index input, negative ones counted from the front; nothing where they are not constant.
std::optional<std::vector<int64_t>> indices_of(const NodeView& view, int64_t size) {
  auto indices = view.ints("", 1);
  if (!indices) return std::nullopt;
  for (int64_t& i : *indices)
    if (i < 0) i += size;
  const bool legal = std::all_of(indices->begin(), indices->end(), [&](int64_t i) { return i >= 0 && i < size; });
  return legal ? indices : std::nullopt;
}

}  // namespace

void slice(Ties& t) {
  const Value *x = t.in(0), *y = t.out();
  const auto spans = spans_of(t.view, Ties::rank(*x));
  if (!spans) return t.pin_node("what it takes is computed at run time");
  std::vector<bool> cut(static_cast<size_t>(Ties::rank(*x)));
  for (const Span& s : *spans) {
    cut[static_cast<size_t>(s.axis)] = true;
    const auto length = Ties::size(*x, s.axis);
    if (!length || s.step != 1) {
      for (const Value* v : {x, y}) t.pin(v, s.axis, s.step == 1 ? "its length is not known" : "it takes with a step");
      continue;
    }
    const SliceSpan taken = slice_span(*length, s.start, s.end, s.step);
    for (int64_t i = 0; i < taken.count; ++i) t.tie(x, s.axis, taken.first + i, y, s.axis, i);
  }
  for (int a = 0; a < Ties::rank(*x); ++a)
    if (!cut[static_cast<size_t>(a)]) t.tie(x, a, y, a);
}

void rewrite_slice(Rewriting& r) {
  const Value* x = r.node.input(0);
  const auto spans = spans_of(r.view, static_cast<int>(x->type.dims->size()));
  if (!spans) return;
  std::vector<int64_t> starts, ends;
  bool any = false;
  for (const Span& s : *spans) {
    starts.push_back(s.start);
    ends.push_back(s.end);
    const auto* kept = r.kept.find(x, s.axis);
    if (!kept) continue;
    const SliceSpan taken = slice_span(*(*x->type.dims)[static_cast<size_t>(s.axis)].value(), s.start, s.end, 1);
    starts.back() = kept_below(*kept, taken.first);
    ends.back() = kept_below(*kept, taken.first + taken.count);
    any = true;
  }
  if (!any) return;
  r.set_ints("starts", 1, 10, starts);
  r.set_ints("ends", 2, 10, ends);
}

// x indexed along one axis: rows of a table for tokens, or parts of an activation
void gather(Ties& t) {
  const Value *x = t.in(0), *index = t.in(1), *y = t.out();
  auto axis = static_cast<int>(t.view.get_int("axis", 0));
  if (axis < 0) axis += Ties::rank(*x);
  const int added = Ties::rank(*index);
  for (int a = 0; a < Ties::rank(*x); ++a)
    if (a != axis) t.tie(x, a, y, a < axis ? a : a + added - 1);
  for (int a = 0; a < added; ++a) t.tie(index, a, y, axis + a);
  for (int a = 0; a < Ties::rank(*x); ++a)
    if (a != axis && t.fixed(*x)) t.produces(x, a);
  const auto size = Ties::size(*x, axis);
  const auto constant = size && added == 1 ? indices_of(t.view, *size) : std::nullopt;
  if (!constant) return t.pin(x, axis, "it picks entries of this axis by number");
  for (size_t i = 0; i < constant->size(); ++i) t.tie(x, axis, (*constant)[i], y, axis, static_cast<int64_t>(i));
}

void rewrite_gather(Rewriting& r) {
  const Value* x = r.node.input(0);
  auto axis = static_cast<int>(r.view.get_int("axis", 0));
  if (axis < 0) axis += static_cast<int>(x->type.dims->size());
  const auto* kept = r.kept.find(x, axis);
  const auto numbers =
      kept ? indices_of(r.view, (*x->type.dims)[static_cast<size_t>(axis)].value().value()) : std::nullopt;
  if (!numbers) return;
  std::vector<int64_t> renumbered;
  for (const int64_t i : *numbers)
    if (std::binary_search(kept->begin(), kept->end(), i)) renumbered.push_back(kept_below(*kept, i));
  r.set_ints("", 1, 1, renumbered);
}

// x indexed along several axes at once: biases by relative positions, in a table with a column for each head
void gather_nd(Ties& t) {
  const Value *x = t.in(0), *index = t.in(1), *y = t.out();
  const auto batch = static_cast<int>(t.view.get_int("batch_dims", 0));
  const auto indexed = Ties::size(*index, -1);
  const int rows = Ties::rank(*index) - 1;
  if (!indexed || batch < 0 || batch > rows || *indexed > Ties::rank(*x) - batch)
    return t.pin_node("what it picks is not known");
  const int first = batch + static_cast<int>(*indexed);
  for (int a = 0; a < batch; ++a) t.tie(x, a, y, a);
  for (int a = 0; a < rows; ++a) t.tie(index, a, y, a);
  t.pin(index, rows, "it has a number for each axis that is picked from");
  for (int a = batch; a < first; ++a) t.pin(x, a, "it picks entries of this axis by number");
  for (int a = first; a < Ties::rank(*x); ++a) {
    t.tie(x, a, y, rows + a - first);
    if (t.fixed(*x)) t.produces(x, a);
  }
}

/// What it puts before and behind an axis stays, and so does what meets it.
void pad(Ties& t) {
  const Value *x = t.in(0), *y = t.out();
  const int rank = Ties::rank(*x);
  const auto pads = t.view.ints("pads", 1);
  if (!pads || t.in(3) || pads->size() != 2 * static_cast<size_t>(rank)) return t.pin_node("its padding is not known");
  for (int a = 0; a < rank; ++a) {
    const int64_t before = (*pads)[static_cast<size_t>(a)],
                  after = (*pads)[static_cast<size_t>(a) + static_cast<size_t>(rank)];
    const auto size = Ties::size(*x, a);
    if (before == 0 && after == 0) {
      t.tie(x, a, y, a);
    } else if (!size || before < 0 || after < 0 || t.view.get_string("mode", "constant") != "constant") {
      for (const Value* v : {x, y}) t.pin(v, a, "it pads this axis");
    } else {
      for (int64_t i = 0; i < *size; ++i) t.tie(x, a, i, y, a, before + i);
      for (int64_t i = 0; i < before; ++i) t.pin(y, a, i, "this channel is padding");
      for (int64_t i = 0; i < after; ++i) t.pin(y, a, before + *size + i, "this channel is padding");
    }
  }
}

}  // namespace mlopt::prune::rules
