#include <fmt/core.h>

#include "prune/structure/rule.h"

namespace mlopt::prune {

std::optional<int64_t> Ties::size(const Value& v, int axis) {
  if (axis < 0) axis += rank(v);
  if (axis < 0 || axis >= rank(v)) return std::nullopt;
  return (*v.type.dims)[static_cast<size_t>(axis)].value();
}

std::string Ties::because(const std::string& why) const { return view.node().label() + ": " + why; }

void Ties::tie(const Value* a, int axis_a, const Value* b, int axis_b) {
  if (!a || !b) return;
  const auto left = all_.atoms.axis(*a, axis_a, &view.node()), right = all_.atoms.axis(*b, axis_b, &view.node());
  const bool same = left && right && all_.atoms.axes()[*left].size == all_.atoms.axes()[*right].size;
  if (same) {
    for (int64_t i = 0, n = all_.atoms.axes()[*left].size; i < n; ++i) all_.atoms.tie(*left, i, *right, i);
    return;
  }
  for (const auto& axis : {left, right})
    if (axis) all_.atoms.pin_all(*axis, because("the sizes of two axes that must be equal are not known to be"));
}

void Ties::tie(const Value* a, int axis_a, int64_t i, const Value* b, int axis_b, int64_t j) {
  if (!a || !b) return;
  const auto left = all_.atoms.axis(*a, axis_a, &view.node()), right = all_.atoms.axis(*b, axis_b, &view.node());
  if (left && right && all_.atoms.holds(*left, i) && all_.atoms.holds(*right, j))
    return all_.atoms.tie(*left, i, *right, j);
  pin(a, axis_a, i, "one channel alone stands on the other side");
  pin(b, axis_b, j, "one channel alone stands on the other side");
}

void Ties::tie_broadcast(const Value* x, const Value* y) {
  if (!x || !y) return;
  const int shift = rank(*y) - rank(*x);
  for (int axis = 0; axis < rank(*x); ++axis)
    if (axis + shift >= 0 && size(*x, axis) != 1) tie(x, axis, y, axis + shift);
}

void Ties::tie_all(const Value* x, const Value* y) {
  if (!x || !y) return;
  if (rank(*x) != rank(*y)) return pin_node("its input and output differ in rank");
  for (int axis = 0; axis < rank(*x); ++axis) tie(x, axis, y, axis);
}

void Ties::pin(const Value* v, int axis, const std::string& why) {
  if (!v) return;
  if (const auto found = all_.atoms.axis(*v, axis, &view.node())) all_.atoms.pin_all(*found, because(why));
}

void Ties::pin(const Value* v, int axis, int64_t i, const std::string& why) {
  if (!v) return;
  const auto found = all_.atoms.axis(*v, axis, &view.node());
  if (!found) return;
  if (all_.atoms.holds(*found, i)) return all_.atoms.pin(*found, i, because(why));
  all_.atoms.pin_all(*found, because("the axis has not the size that follows for it"));
}

void Ties::pin_from(const Value* v, int axis, const std::string& why) {
  if (!v || !v->type.dims) return;
  for (int a = axis < 0 ? axis + rank(*v) : axis; a < rank(*v); ++a) pin(v, a, why);
}

void Ties::pin_node(const std::string& why) {
  for (const Value* v : view.node().inputs()) pin_all(v, why);
  for (const Value* v : view.node().outputs()) pin_all(v, why);
}

void Ties::produces(const Value* weight, int axis) {
  if (!weight || !fixed(*weight)) return;
  const auto found = all_.atoms.axis(*weight, axis, &view.node());
  if (found && !all_.atoms.axes()[*found].producer) all_.atoms.at(*found).producer = &view.node();
}

void Ties::contracts(int input, int axis) {
  if (axis < 0) axis += rank(*in(input));
  all_.contractions.push_back({&view.node(), input, axis, false});
}

void Ties::averages(int input, int axis) {
  contracts(input, axis);
  all_.contractions.back().mean = true;
  if (const auto found = all_.atoms.axis(*in(input), axis, &view.node())) all_.atoms.at(*found).normalized = true;
}

void Ties::normalizes() {
  all_.normalizations.push_back(&view.node());
  if (const auto found = all_.atoms.axis(*in(0), -1, &view.node())) all_.atoms.at(*found).normalized = true;
}

void Ties::heads(const Value* v, int axis) {
  if (const auto found = all_.atoms.axis(*v, axis, &view.node())) all_.atoms.at(*found).heads = true;
}

void Ties::regroup(const Value* x, std::vector<int> x_axes, const Value* y, std::vector<int> y_axes) {
  all_.regroupings.push_back({&view.node(), x, y, std::move(x_axes), std::move(y_axes)});
}

}  // namespace mlopt::prune
