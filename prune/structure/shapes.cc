#include "prune/structure/shapes.h"

#include "core/ir/infer_rules.h"
#include "core/tensor/cast.h"

namespace mlopt::prune {
namespace {

using Elements = std::vector<std::optional<int64_t>>;

/// Reshape copies an element 0 from its input, and finds -1 by itself.
bool says_it_already(const Node& node, int64_t element, size_t i, int64_t wanted) {
  if (element == wanted) return true;
  if (node.op == "Expand") return element == 1;
  if (node.op != "Reshape") return false;
  if (element == -1) return true;
  const auto& dims = node.input(0)->type.dims;
  const Attr* literal = node.attr("allowzero");
  const bool copies =
      !literal || std::get_if<int64_t>(&literal->value) == nullptr || std::get<int64_t>(literal->value) == 0;
  return element == 0 && copies && dims && i < dims->size() && (*dims)[i].is(wanted);
}

/// Elements of a shape vector are counted from the end where it is shorter than what it shapes (Expand).
size_t shift_of(const Elements& wanted, size_t elements) {
  return wanted.size() > elements ? wanted.size() - elements : 0;
}

Value* integers(Graph& graph, const Value& like, const std::vector<int64_t>& numbers) {
  const Dims dims = {static_cast<int64_t>(numbers.size())};
  if (like.type.dtype == DType::kI32)
    return graph.add_constant(like.name,
                              Tensor::of<int32_t>(dims, std::vector<int32_t>(numbers.begin(), numbers.end())));
  return graph.add_constant(like.name, Tensor::ints(numbers));
}

/// Puts the wanted numbers between runs of elements that are taken over.
Value* patched(Graph& graph, Value* shape, const Elements& elements, const Node* before) {
  std::vector<Value*> pieces;
  for (size_t i = 0; i < elements.size();) {
    std::vector<int64_t> run;
    const bool fresh = elements[i].has_value();
    for (; i < elements.size() && elements[i].has_value() == fresh; ++i)
      run.push_back(fresh ? *elements[i] : static_cast<int64_t>(i));
    Value* numbers = integers(graph, *shape, run);
    if (!fresh) {
      numbers = graph.add_op("Gather", {shape, numbers}, {{"axis", int64_t{0}, ""}}, before, shape->name)->output(0);
    }
    pieces.push_back(numbers);
  }
  return graph.add_op("Concat", pieces, {{"axis", int64_t{0}, ""}}, before, shape->name)->output(0);
}

}  // namespace

void rewrite_constant_shapes(const std::vector<WantedShape>& wanted) {
  for (const WantedShape& w : wanted) {
    const Value* shape = w.node->input(w.input);
    if (!shape || !shape->known_constant()) continue;
    std::vector<int64_t> numbers = to_ints(*shape->known_constant());
    const size_t shift = shift_of(w.elements, numbers.size());
    bool changed = false;
    for (size_t i = 0; i < numbers.size() && i + shift < w.elements.size(); ++i) {
      const auto& element = w.elements[i + shift];
      if (!element || says_it_already(*w.node, numbers[i], i, *element)) continue;
      numbers[i] = *element;
      changed = true;
    }
    Graph& graph = *w.node->graph();
    if (changed) graph.set_input(w.node, w.input, integers(graph, *shape, numbers));
  }
}

bool rewrite_computed_shapes(const std::vector<WantedShape>& wanted) {
  bool any = false;
  for (const WantedShape& w : wanted) {
    Value* shape = w.node->input(w.input);
    if (!shape || shape->known_constant()) continue;
    const auto now = infer_rules::elements(shape);
    const size_t shift = now ? shift_of(w.elements, now->size()) : 0;
    Elements missing(w.elements.begin() + static_cast<std::ptrdiff_t>(shift), w.elements.end());
    bool changed = false;
    for (size_t i = 0; i < missing.size(); ++i) {
      if (!missing[i]) continue;
      const auto number = now && i < now->size() ? (*now)[i].value() : std::nullopt;
      if (number && says_it_already(*w.node, *number, i, *missing[i]))
        missing[i].reset();
      else
        changed = true;
    }
    Graph& graph = *w.node->graph();
    if (changed) graph.set_input(w.node, w.input, patched(graph, shape, missing, w.node));
    any = any || changed;
  }
  return any;
}

}  // namespace mlopt::prune
