#include "core/rewrite/free_axes.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/ir/bind.h"
#include "core/ir/view.h"
#include "core/rewrite/pass.h"
#include "core/tensor/cast.h"
#include "core/tensor/dim_product.h"

namespace mlopt {
namespace {

using Shapes = std::map<const Value*, SymDims>;

void free_one(Model& model, const FreeAxis& wanted, TypeRule standard) {
  std::vector<std::string> names;
  for (Value* input : model.graph->inputs()) {
    names.push_back(input->name);
    if (input->name != wanted.input) continue;
    if (!input->type.dims) usage_error(fmt::format("the shape of '{}' is not known", input->name));
    const auto rank = static_cast<int64_t>(input->type.dims->size());
    const int64_t axis = wanted.axis < 0 ? wanted.axis + rank : wanted.axis;
    if (axis < 0 || axis >= rank) usage_error(fmt::format("'{}' has no axis {}", input->name, wanted.axis));
    const auto size = (*input->type.dims)[static_cast<size_t>(axis)].value();
    if (!size) usage_error(fmt::format("axis {} of '{}' is free already", wanted.axis, input->name));
    return free_dimension(model, *input, static_cast<size_t>(axis), wanted.name, standard);
  }
  usage_error(fmt::format("no input is called '{}'", wanted.input), {}, suggestion(wanted.input, names));
}

Shapes shapes_of(const Model& model) {
  Shapes shapes;
  for (const Node* node : all_nodes(*model.graph))
    for (const Value* v : node->inputs())
      if (v && v->type.dims) shapes[v] = *v->type.dims;
  return shapes;
}

Dim product_of(const SymDims& dims, size_t from, size_t to) {
  return product(std::span(dims).subspan(from, to - from));
}

/// What the entries of a target are for x: 0 copies, -1 is what the others leave.
SymDims sizes_of(const std::vector<int64_t>& target, const SymDims& x) {
  SymDims sizes;
  Dim given = 1;
  for (size_t j = 0; j < target.size(); ++j) {
    sizes.push_back(target[j] == 0 && j < x.size() ? x[j] : Dim(target[j]));
    if (target[j] != -1) given = given * sizes[j];
  }
  const auto left = given.is(0) ? std::nullopt : Dim::divide(product(x), given);
  for (size_t j = 0; j < target.size(); ++j)
    if (target[j] == -1) sizes[j] = left.value_or(Dim());
  return sizes;
}

/// Axes of x and the entries of a target that hold the same elements.
struct Part {
  size_t axis = 0, axes = 0, entry = 0, entries = 0;
};

/// The smallest that begins there; without axes where there is none.
Part part_at(const SymDims& x, size_t axis, const SymDims& sizes, size_t entry) {
  const size_t axes = x.size() - axis, entries = sizes.size() - entry;
  for (size_t both = 2; both <= axes + entries; ++both)
    for (size_t a = 1; a <= std::min(axes, both - 1); ++a) {
      const size_t b = both - a;
      if (b <= entries && product_of(x, axis, axis + a) == product_of(sizes, entry, entry + b))
        return {axis, a, entry, b};
    }
  return {};
}

std::vector<Part> parts_of(const SymDims& x, const SymDims& sizes) {
  std::vector<Part> parts;
  size_t axis = 0, entry = 0;
  while (axis < x.size() && entry < sizes.size()) {
    const Part part = part_at(x, axis, sizes, entry);
    if (part.axes == 0) return parts;
    parts.push_back(part);
    axis += part.axes;
    entry += part.entries;
  }
  if (!parts.empty() && product_of(x, axis, x.size()).is(1)) parts.back().axes += x.size() - axis;
  return parts;
}

/// The only one that can be what is free now while the others stay.
std::optional<size_t> entry_of(const Part& part, const SymDims& now, const SymDims& sizes) {
  if (part.entries == 1) return part.entry;
  const Dim whole = product_of(now, part.axis, part.axis + part.axes);
  const size_t end = part.entry + part.entries;
  std::optional<size_t> found;
  for (size_t j = part.entry; j < end; ++j) {
    const Dim others = product_of(sizes, part.entry, j) * product_of(sizes, j + 1, end);
    const auto own = others.is(0) ? std::nullopt : Dim::divide(whole, others);
    if (!own || !own->symbol_name()) continue;
    if (found) return std::nullopt;
    found = j;
  }
  return found;
}

/// The target that follows; without a reason where it does by itself.
Expected<std::vector<int64_t>> following(const std::vector<int64_t>& target, const SymDims& before,
                                         const SymDims& now) {
  if (before.size() != now.size()) return Decline{};
  const auto is_freed = [&](size_t i) { return before[i].value() && !now[i].value(); };
  const SymDims sizes = sizes_of(target, before);
  std::vector<int64_t> made = target;
  size_t seen = 0;
  for (const Part& part : parts_of(before, sizes)) {
    bool freed = false;
    for (seen = part.axis; seen < part.axis + part.axes; ++seen) freed |= is_freed(seen);
    if (!freed) continue;
    const auto j = entry_of(part, now, sizes);
    if (!j) return Decline{"which entry of its target is free cannot be told"};
    if (made[*j] == -1) continue;
    const bool copies = part.axes == 1 && part.entries == 1 && part.axis == *j;
    if (!copies && std::find(made.begin(), made.end(), -1) != made.end())
      return Decline{"two entries of its target are free"};
    made[*j] = copies ? 0 : -1;
  }
  for (; seen < now.size(); ++seen)
    if (is_freed(seen) && !(seen < target.size() && target[seen] == 0))
      return Decline{"which entry of its target is free cannot be told"};
  if (made == target) return Decline{};
  return made;
}

bool follow(const Model& model, Node* node, const Shapes& before) {
  if (!node->is("Reshape") || NodeView(*node, model.opset()).get_int("allowzero", 0) != 0) return false;
  const Value *x = node->input(0), *shape = node->input(1);
  const auto old = before.find(x);
  if (!shape || !shape->known_constant() || old == before.end() || !x->type.dims) return false;
  const auto target = following(to_ints(*shape->constant), old->second, *x->type.dims);
  if (!target && target.error().reason.empty()) return false;
  if (!target)
    unsupported_error("constants of the model hold the axis to its size: " + target.error().reason, node->label(),
                      "export the model with this axis free");
  node->graph()->set_input(node, 1, node->graph()->add_constant(shape->name + "_free", Tensor::ints(*target)));
  return true;
}

void forget(const Node& node) {
  for (Value* y : node.outputs())
    if (y) {
      y->type.dims.reset();
      y->symbolic.reset();
    }
}

/// Of one node and its bodies, as what was inferred from an old target may be wrong.
void infer_anew(const Model& model, Node& node, TypeRule standard) {
  forget(node);
  for (const Graph* body : node.bodies())
    for (const Node* inner : all_nodes(*body)) forget(*inner);
  infer(model, node, standard, false);
}

/// In schedule order: a target follows what is inferred of those before it. Has one changed yet?
bool follow_in_order(const Model& model, const Graph& graph, const Shapes& before, TypeRule standard, bool changed) {
  for (Node* node : graph.nodes()) {
    changed |= follow(model, node, before);
    if (changed) infer_anew(model, *node, standard);
    const std::vector<Graph*> bodies = node->bodies();
    for (const Graph* body : bodies) changed |= follow_in_order(model, *body, before, standard, changed);
    if (changed && !bodies.empty()) infer_anew(model, *node, standard);
  }
  return changed;
}

}  // namespace

void free_axes(Model& model, const std::vector<FreeAxis>& axes, TypeRule standard) {
  const Shapes before = shapes_of(model);
  for (const FreeAxis& axis : axes) free_one(model, axis, standard);
  follow_in_order(model, *model.graph, before, standard, false);
  remove_dead(model);
}

}  // namespace mlopt
