#include "prune/structure/rules.h"

namespace mlopt::prune::rules {
namespace {

constexpr const char* kUnknown = "how its axes are regrouped is not known";

/// What is left to compare of two shapes.
struct Walk {
  const SymDims &x, &y;
  size_t x_first = 0, x_end = x.size(), y_first = 0, y_end = y.size();

  /// Lengths of the shortest runs of axes at the front (or the back) whose products are equal; nothing where none are
  /// known to be.
  std::optional<std::pair<size_t, size_t>> next(bool back) const {
    Dim left = 1;
    for (size_t i = 1; i <= x_end - x_first; ++i) {
      left = left * (back ? x[x_end - i] : x[x_first + i - 1]);
      Dim right = 1;
      for (size_t j = 1; j <= y_end - y_first; ++j) {
        right = right * (back ? y[y_end - j] : y[y_first + j - 1]);
        if (left == right) return std::pair(i, j);
      }
    }
    return std::nullopt;
  }
};

std::vector<int> range(size_t first, size_t count) {
  std::vector<int> axes;
  for (size_t i = 0; i < count; ++i) axes.push_back(static_cast<int>(first + i));
  return axes;
}

/// Ones are left out: they take no part in what is regrouped.
std::vector<int> without_ones(const SymDims& dims, const std::vector<int>& axes) {
  std::vector<int> rest;
  for (const int a : axes)
    if (!dims[static_cast<size_t>(a)].is(1)) rest.push_back(a);
  return rest;
}

void relate(Ties& t, const std::vector<int>& x_axes, const std::vector<int>& y_axes) {
  const Value *x = t.in(0), *y = t.out();
  const std::vector<int> from = without_ones(*x->type.dims, x_axes), to = without_ones(*y->type.dims, y_axes);
  if (from.size() == 1 && to.size() == 1) return t.tie(x, from[0], y, to[0]);
  if (!from.empty() && !to.empty()) return t.regroup(x, from, y, to);
  for (const int a : from) t.pin(x, a, kUnknown);
  for (const int a : to) t.pin(y, a, kUnknown);
}

/// Shapes without their ones, which may stand anywhere.
std::vector<int> solid(const Value* v) { return without_ones(*v->type.dims, range(0, v->type.dims->size())); }

SymDims picked(const Value* v, const std::vector<int>& axes) {
  SymDims dims;
  for (const int a : axes) dims.push_back((*v->type.dims)[static_cast<size_t>(a)]);
  return dims;
}

std::vector<int> part(const std::vector<int>& axes, size_t first, size_t count) {
  return {axes.begin() + static_cast<std::ptrdiff_t>(first), axes.begin() + static_cast<std::ptrdiff_t>(first + count)};
}

/// Which of so many axes are listed; nothing when one is out of range.
std::optional<std::vector<bool>> marked(const std::vector<int64_t>& axes, int rank) {
  std::vector<bool> found(static_cast<size_t>(rank));
  for (const int64_t a : axes) {
    if (a < -rank || a >= rank) return std::nullopt;
    found[static_cast<size_t>(a < 0 ? a + rank : a)] = true;
  }
  return found;
}

}  // namespace

void reshape(Ties& t) {
  const std::vector<int> x_axes = solid(t.in(0)), y_axes = solid(t.out());
  const SymDims x = picked(t.in(0), x_axes), y = picked(t.out(), y_axes);
  Walk walk{x, y};
  while (const auto run = walk.next(false)) {
    relate(t, part(x_axes, walk.x_first, run->first), part(y_axes, walk.y_first, run->second));
    walk.x_first += run->first, walk.y_first += run->second;
  }
  while (const auto run = walk.next(true)) {
    walk.x_end -= run->first, walk.y_end -= run->second;
    relate(t, part(x_axes, walk.x_end, run->first), part(y_axes, walk.y_end, run->second));
  }
  const size_t rest_x = walk.x_end - walk.x_first, rest_y = walk.y_end - walk.y_first;
  if (rest_x == 1 && rest_y == 1)  // all others agree: so do these
    return relate(t, part(x_axes, walk.x_first, 1), part(y_axes, walk.y_first, 1));
  if (rest_x > 0 && rest_y > 0)
    return t.regroup(t.in(0), part(x_axes, walk.x_first, rest_x), t.out(), part(y_axes, walk.y_first, rest_y));
  for (size_t i = walk.x_first; i < walk.x_end; ++i) t.pin(t.in(0), x_axes[i], kUnknown);
  for (size_t i = walk.y_first; i < walk.y_end; ++i) t.pin(t.out(), y_axes[i], kUnknown);
}

void rewrite_reshape(Rewriting& r) {
  const Value* y = r.node.output(0);
  if (r.view.opset() >= 5) return r.want_shape(1, y);
  std::vector<int64_t> target = r.view.get_ints("shape");
  for (size_t i = 0; i < target.size(); ++i)
    if (const auto* kept = r.kept.find(y, static_cast<int>(i)); kept && target[i] > 0)
      target[i] = static_cast<int64_t>(kept->size());
  r.node.set_attr("shape", target);
}

void flatten(Ties& t) {
  int axis = static_cast<int>(t.view.get_int("axis", 1));
  const int rank = Ties::rank(*t.in(0));
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank) return t.pin_node(kUnknown);
  relate(t, range(0, static_cast<size_t>(axis)), {0});
  relate(t, range(static_cast<size_t>(axis), static_cast<size_t>(rank - axis)), {1});
}

void squeeze(Ties& t) {
  const Value *x = t.in(0), *y = t.out();
  const auto axes = t.view.ints("axes", 1);
  auto dropped = axes ? marked(*axes, Ties::rank(*x)) : std::nullopt;
  if (!dropped) return t.pin_node(kUnknown);
  if (axes->empty())
    for (int a = 0; a < Ties::rank(*x); ++a) (*dropped)[static_cast<size_t>(a)] = Ties::size(*x, a) == 1;
  int next = 0;
  for (int a = 0; a < Ties::rank(*x); ++a)
    if (!(*dropped)[static_cast<size_t>(a)]) t.tie(x, a, y, next++);
}

void unsqueeze(Ties& t) {
  const Value *x = t.in(0), *y = t.out();
  const auto axes = t.view.ints("axes", 1);
  const auto added = axes ? marked(*axes, Ties::rank(*y)) : std::nullopt;
  if (!added) return t.pin_node(kUnknown);
  int next = 0;
  for (int a = 0; a < Ties::rank(*y); ++a)
    if (!(*added)[static_cast<size_t>(a)]) t.tie(x, next++, y, a);
}

}  // namespace mlopt::prune::rules
