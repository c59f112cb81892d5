#include "core/ir/infer_bodies.h"

namespace mlopt::infer_rules {
namespace {

using Types = std::vector<Type>;

/// The type that holds whichever of two branches was taken.
Type common(const Type& a, const Type& b) {
  if (a.kind != b.kind) return {};
  Type t = a;
  if (a.dtype != b.dtype) t.dtype = DType::kUndefined;
  if (a.element) t.element = b.element ? std::make_shared<const Type>(common(*a.element, *b.element)) : nullptr;
  if (!a.dims || !b.dims || a.dims->size() != b.dims->size()) {
    t.dims.reset();
    return t;
  }
  for (size_t i = 0; i < t.dims->size(); ++i)
    if (!((*a.dims)[i] == (*b.dims)[i])) (*t.dims)[i] = Dim();
  return t;
}

/// A value that a loop carries may change its shape, never its kind and element type.
Type without_shape(const Type& type) {
  Type t = type;
  t.dims.reset();
  if (t.element) t.element = std::make_shared<const Type>(without_shape(*t.element));
  return t;
}

Types branches(const NodeView& view) {
  const std::vector<Graph*> bodies = view.node().bodies();
  if (bodies.size() != 2 || bodies[0]->outputs().size() != bodies[1]->outputs().size()) return {};
  Types types;
  for (size_t i = 0; i < bodies[0]->outputs().size(); ++i)
    types.push_back(common(bodies[0]->outputs()[i]->type, bodies[1]->outputs()[i]->type));
  return types;
}

/// Carried values keep what the initial value and the body's result agree on; scanned outputs gain a leading axis.
Types loop(const NodeView& view) {
  const Node& node = view.node();
  const auto& results = node.bodies()[0]->outputs();
  const size_t carried = node.inputs().size() < 2 ? 0 : node.inputs().size() - 2;
  Types types;
  for (size_t i = 0; i + 1 < results.size(); ++i) {
    Type type = results[i + 1]->type;
    if (i < carried) {
      type = node.input(static_cast<int>(i) + 2) ? common(type, node.input(static_cast<int>(i) + 2)->type) : Type();
    } else if (type.dims) {
      type.dims->insert(type.dims->begin(), Dim());
    }
    types.push_back(std::move(type));
  }
  return types;
}

void enter_loop(const NodeView& view) {
  const auto& inputs = view.node().bodies()[0]->inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value* given = view.node().input(static_cast<int>(i));
    Type type = given ? without_shape(given->type) : Type();
    if (i < 2) type = Type::tensor(i == 0 ? DType::kI64 : DType::kBool, type.dims);
    inputs[i]->type = merged(inputs[i]->type, std::move(type));
  }
}

/// Where a Scan's inputs and outputs are: state values first, then what is cut along an axis.
struct ScanShape {
  size_t states, cut;
  std::vector<int64_t> input_axes, output_axes;  ///< empty: all 0
};

std::optional<ScanShape> scan_shape(const NodeView& view) {
  const int64_t cut = view.get_int("num_scan_inputs", -1);
  const auto inputs = static_cast<int64_t>(view.node().inputs().size());
  // The first version has a batch axis and lengths: seen in no file, left unknown.
  if (view.opset() < 9 || cut < 1 || cut > inputs) return std::nullopt;
  return ScanShape{static_cast<size_t>(inputs - cut), static_cast<size_t>(cut), view.get_ints("scan_input_axes"),
                   view.get_ints("scan_output_axes")};
}

/// `axes[i]` from the front of `rank` axes; nothing when it is out of range.
std::optional<std::ptrdiff_t> axis_of(const std::vector<int64_t>& axes, size_t i, size_t rank) {
  int64_t axis = i < axes.size() ? axes[i] : 0;
  if (axis < 0) axis += static_cast<int64_t>(rank);
  if (axis < 0 || axis >= static_cast<int64_t>(rank)) return std::nullopt;
  return static_cast<std::ptrdiff_t>(axis);
}

void enter_scan(const NodeView& view) {
  const auto shape = scan_shape(view);
  const auto& inputs = view.node().bodies()[0]->inputs();
  for (size_t i = 0; shape && i < inputs.size(); ++i) {
    const Value* given = view.node().input(static_cast<int>(i));
    if (!given) continue;
    Type type = given->type;
    if (i >= shape->states && type.dims) {
      if (const auto axis = axis_of(shape->input_axes, i - shape->states, type.dims->size()))
        type.dims->erase(type.dims->begin() + *axis);
      else
        type.dims.reset();
    }
    inputs[i]->type = merged(inputs[i]->type, std::move(type));
  }
}

Types scan(const NodeView& view) {
  const auto shape = scan_shape(view);
  if (!shape) return {};
  Types types;
  const auto& results = view.node().bodies()[0]->outputs();
  for (size_t i = 0; i < results.size(); ++i) {
    Type type = results[i]->type;
    if (i >= shape->states && type.dims) {
      if (const auto axis = axis_of(shape->output_axes, i - shape->states, type.dims->size() + 1))
        type.dims->insert(type.dims->begin() + *axis, scan_steps(view));
      else
        type.dims.reset();
    }
    types.push_back(std::move(type));
  }
  return types;
}

}  // namespace

Type merged(const Type& old, Type fresh) {
  if (fresh.kind == Type::Kind::kUnknown) return old;
  if (old.kind != fresh.kind) return fresh;
  if (fresh.dtype == DType::kUndefined) fresh.dtype = old.dtype;
  if (!fresh.dims) fresh.dims = old.dims;
  if (!fresh.element) fresh.element = old.element;
  if (fresh.dims && old.dims && fresh.dims->size() == old.dims->size())
    for (size_t i = 0; i < fresh.dims->size(); ++i) {
      Dim& dim = (*fresh.dims)[i];
      const Dim& before = (*old.dims)[i];
      if (!dim.known() || (!dim.value() && before.value())) dim = before;
    }
  fresh.denotation = old.denotation;
  return fresh;
}

void enter_bodies(const NodeView& view) {
  if (view.node().bodies().size() != 1) return;
  if (view.node().is("Loop")) enter_loop(view);
  if (view.node().is("Scan")) enter_scan(view);
}

Dim scan_steps(const NodeView& view) {
  const auto shape = scan_shape(view);
  const Value* first = shape ? view.node().input(static_cast<int>(shape->states)) : nullptr;
  if (!first || !first->type.dims) return {};
  const auto axis = axis_of(shape->input_axes, 0, first->type.dims->size());
  return axis ? (*first->type.dims)[static_cast<size_t>(*axis)] : Dim();
}

std::optional<std::vector<Type>> body_types(const NodeView& view) {
  if (view.node().is("If")) return branches(view);
  if (view.node().bodies().size() != 1) return std::nullopt;
  if (view.node().is("Loop")) return loop(view);
  if (view.node().is("Scan")) return scan(view);
  return std::nullopt;
}

}  // namespace mlopt::infer_rules
