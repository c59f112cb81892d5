#include "prune/structure/rules.h"

namespace mlopt::prune::rules {
namespace {

constexpr const char* kSpatial = "it slides along this axis";

struct Sizes {
  int64_t group = 1, inputs = 0, outputs = 0;  ///< channels of one group
};

/// Nothing where the weight's shape is not known, or does not fit.
std::optional<Sizes> sizes(const Ties& t, bool transposed) {
  const Value *x = t.in(0), *w = t.in(1);
  if (!x || !w || Ties::rank(*w) < 3 || Ties::rank(*x) != Ties::rank(*w)) return std::nullopt;
  const auto first = Ties::size(*w, 0), second = Ties::size(*w, 1);
  const int64_t group = t.view.get_int("group", 1);
  if (!first || !second || group < 1 || *first % group != 0) return std::nullopt;
  const Sizes found = transposed ? Sizes{group, *first / group, *second} : Sizes{group, *second, *first / group};
  if (Ties::size(*x, 1) != found.group * found.inputs) return std::nullopt;
  return found;
}

void tie_surroundings(Ties& t) {
  const Value *x = t.in(0), *y = t.out();
  t.tie(x, 0, y, 0);
  for (const Value* v : {x, t.in(1), y}) t.pin_from(v, 2, kSpatial);
}

/// Position i of every group of `channels` goes with the same position of the others.
void tie_groups(Ties& t, const Value* v, int axis, int64_t group, int64_t channels) {
  for (int64_t g = 1; g < group; ++g)
    for (int64_t i = 0; i < channels; ++i) t.tie(v, axis, g * channels + i, v, axis, i);
}

}  // namespace

// weight [outputs, inputs / group, kernel...]
void convolution(Ties& t) {
  const auto s = sizes(t, false);
  if (!s) return t.pin_node("the shape of its weight is not known");
  const Value *x = t.in(0), *w = t.in(1), *b = t.in(2), *y = t.out();
  tie_surroundings(t);
  t.tie(w, 0, y, 1);
  if (b) t.tie(b, 0, y, 1);
  t.produces(w, 0);
  if (s->inputs == 1 && s->group > 1) {  // depthwise: each input channel has outputs of its own
    for (int64_t c = 0; c < s->group; ++c)
      for (int64_t m = 0; m < s->outputs; ++m) t.tie(y, 1, c * s->outputs + m, x, 1, c);
  } else {
    for (int64_t g = 0; g < s->group; ++g)
      for (int64_t i = 0; i < s->inputs; ++i) t.tie(x, 1, g * s->inputs + i, w, 1, i);
    tie_groups(t, y, 1, s->group, s->outputs);
    t.contracts(0, 1);
  }
  if (t.view.node().op == "FusedConv") t.tie_all(t.in(3), y);
}

void rewrite_convolution(Rewriting& r) {
  const Value *x = r.node.input(0), *w = r.node.input(1);
  if (r.view.get_int("group", 1) > 1 && (*w->type.dims)[1].is(1))
    if (const auto* kept = r.kept.find(x, 1)) r.node.set_attr("group", static_cast<int64_t>(kept->size()));
}

// weight [inputs, outputs / group, kernel...]
void transposed_convolution(Ties& t) {
  const auto s = sizes(t, true);
  if (!s) return t.pin_node("the shape of its weight is not known");
  const Value *x = t.in(0), *w = t.in(1), *b = t.in(2), *y = t.out();
  tie_surroundings(t);
  t.tie(w, 0, x, 1);
  if (b) t.tie(b, 0, y, 1);
  if (s->inputs == 1 && s->group > 1) {
    for (int64_t c = 0; c < s->group; ++c)
      for (int64_t m = 0; m < s->outputs; ++m) t.tie(y, 1, c * s->outputs + m, x, 1, c);
    t.pin(w, 1, "each input channel has several outputs");
    t.produces(w, 0);
    return;
  }
  for (int64_t g = 0; g < s->group; ++g)
    for (int64_t o = 0; o < s->outputs; ++o) t.tie(y, 1, g * s->outputs + o, w, 1, o);
  tie_groups(t, x, 1, s->group, s->inputs);
  t.produces(w, 1);
  t.contracts(0, 1);
}

void rewrite_transposed_convolution(Rewriting& r) {
  const Value *x = r.node.input(0), *w = r.node.input(1);
  const int64_t group = r.view.get_int("group", 1);
  if (group > 1 && (*w->type.dims)[0].is(group))
    if (const auto* kept = r.kept.find(x, 1)) r.node.set_attr("group", static_cast<int64_t>(kept->size()));
}

}  // namespace mlopt::prune::rules
