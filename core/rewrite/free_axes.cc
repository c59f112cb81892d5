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

namespace mlopt {
namespace {

using Shapes = std::map<const Value*, SymDims>;

/// Gives the size that was there.
int64_t free_one(Model& model, const FreeAxis& wanted, TypeRule standard) {
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
    free_dimension(model, *input, static_cast<size_t>(axis), wanted.name, standard);
    return *size;
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

/// The target that follows; nothing where it does by itself.
std::optional<std::vector<int64_t>> following(std::vector<int64_t> target, const SymDims& before, const SymDims& now,
                                              const std::vector<int64_t>& sizes) {
  bool copied = false, changed = false;
  for (size_t i = 0; i < now.size(); ++i) changed |= !now[i].value();
  if (!changed || before.size() != now.size()) return std::nullopt;
  for (size_t i = 0; i < std::min(target.size(), now.size()); ++i) {
    if (target[i] == 0) return std::nullopt;
    if (now[i].value() || !before[i].is(target[i])) continue;
    target[i] = 0;
    copied = true;
  }
  if (copied) return target;
  if (std::find(target.begin(), target.end(), -1) != target.end()) return std::nullopt;
  const auto found = std::find_if(target.begin(), target.end(), [&](int64_t t) {
    return std::any_of(sizes.begin(), sizes.end(), [&](int64_t size) { return size > 0 && t % size == 0; });
  });
  if (found == target.end()) return std::nullopt;
  *found = -1;
  return target;
}

bool follow(const Model& model, Node* node, const Shapes& before, const std::vector<int64_t>& sizes) {
  if (!node->is("Reshape") || NodeView(*node, model.opset()).get_int("allowzero", 0) != 0) return false;
  const Value *x = node->input(0), *shape = node->input(1);
  const auto old = before.find(x);
  if (!shape || !shape->known_constant() || old == before.end() || !x->type.dims) return false;
  const auto target = following(to_ints(*shape->constant), old->second, *x->type.dims, sizes);
  if (!target) return false;
  node->graph()->set_input(node, 1, node->graph()->add_constant(shape->name + "_free", Tensor::ints(*target)));
  return true;
}

}  // namespace

void free_axes(Model& model, const std::vector<FreeAxis>& axes, TypeRule standard) {
  const Shapes before = shapes_of(model);
  std::vector<int64_t> sizes;
  for (const FreeAxis& axis : axes) sizes.push_back(free_one(model, axis, standard));
  for (Node* node : all_nodes(*model.graph)) {
    if (!follow(model, node, before, sizes)) continue;
    for (Value* y : node->outputs()) y->type.dims.reset();
    bool later = false;  // what was inferred from the old target
    for (Node* other : all_nodes(*model.graph)) {
      later |= other == node;
      if (!later) continue;
      for (Value* y : other->outputs())
        if (y) {
          y->type.dims.reset();
          y->symbolic.reset();
        }
    }
    infer(model, standard, false);
  }
  remove_dead(model);
}

}  // namespace mlopt
