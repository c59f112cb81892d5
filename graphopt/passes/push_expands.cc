// f(Expand(c)) -> Expand(f(c)) for a constant c and what works on each of the copies by itself, f(Tile(c)) likewise:
// learned queries that are repeated for each sample are normalized and projected once, when the file is written.
#include <algorithm>

#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

/// The Expand or Tile that repeats a constant along axes of length 1, as many as it has, and these axes.
struct Copies {
  const Node* node = nullptr;
  std::vector<bool> repeated;
};

std::optional<Copies> copies_of(const Value* x, const Graph& graph) {
  const Node* node = x && x->graph == &graph ? x->producer : nullptr;
  if (!node || !(node->is("Expand") || node->is("Tile")) || node->inputs().size() != 2) return std::nullopt;
  const Tensor* c = node->input(0)->known_constant();
  if (!c || !is_float(c->dtype()) || c->size() == 0 || !x->type.dims) return std::nullopt;
  if (x->type.dims->size() != c->dims().size() || c->rank() < 2) return std::nullopt;
  Copies copies{node, {}};
  for (size_t i = 0; i < c->dims().size(); ++i) {
    const Dim& after = (*x->type.dims)[i];
    copies.repeated.push_back(!after.is(c->dims()[i]));
    if (copies.repeated.back() && c->dims()[i] != 1) return std::nullopt;
  }
  return copies.repeated.back() ? std::nullopt : std::optional(copies);
}

/// Is a constant operand, whose axes are the last ones, the same for all copies?
bool is_same_for_copies(const Tensor& other, const Copies& copies) {
  const size_t rank = copies.repeated.size(), axes = other.dims().size();
  for (size_t i = 0; i < axes; ++i)
    if (axes > rank || (copies.repeated[rank - axes + i] && other.dims()[i] != 1)) return false;
  return true;
}

/// May the last axis have another length? Not where the shape of an Expand names the length that it had.
bool takes_width(const Node& copies) {
  if (copies.is("Tile")) return true;
  const auto& shape = copies.input(1)->symbolic;
  return shape && !shape->empty() && shape->back().is(1);
}

/// The same node of the constant, and its copies.
Replacement pushed(const Node& node, int from, const Copies& copies, Builder& builder) {
  std::vector<Value*> inputs = node.inputs();
  inputs[static_cast<size_t>(from)] = copies.node->input(0);
  const Type& type = node.output(0)->type;
  SymDims dims;
  for (const int64_t d : copies.node->input(0)->known_constant()->dims()) dims.emplace_back(d);
  dims.back() = type.dims->back();
  Value* y = builder.op(node.op, std::move(inputs), node.attrs, Type::tensor(type.dtype, dims));
  return {builder.op(copies.node->op, {y, copies.node->input(1)}, {}, type)};
}

Expected<Replacement> rewrite_rows(const Match& m, Builder& builder) {
  const Node& node = *m.root;
  const auto copies = copies_of(node.input(0), builder.graph);
  const auto& dims = node.output(0)->type.dims;
  if (!copies || !dims || dims->size() != copies->repeated.size() || node.outputs().size() != 1) return Decline{};
  for (size_t i = 1; i < node.inputs().size(); ++i)
    if (node.input(static_cast<int>(i)) && !node.input(static_cast<int>(i))->known_constant())
      return Decline{"what it is computed with is not constant"};
  if (node.is("MatMul")) {
    if (node.input(1)->known_constant()->rank() != 2) return Decline{"its weight is no matrix"};
    if (!takes_width(*copies->node) && !(dims->back() == node.input(0)->type.dims->back()))
      return Decline{"the shape of the copies is not known"};
  } else if (node.op.ends_with("Normalization")) {
    const int64_t axis = builder.view(node).get_int("axis", -1);
    if (axis >= 0 || std::any_of(copies->repeated.end() + axis, copies->repeated.end(), [](bool r) { return r; }))
      return Decline{"it is normalized over its copies"};
    for (int i = 1; i < static_cast<int>(node.inputs().size()); ++i)
      if (node.input(i) && !is_same_for_copies(*node.input(i)->known_constant(), *copies))
        return Decline{"its scale or its bias differs between the copies"};
  }
  return pushed(node, 0, *copies, builder);
}

Expected<Replacement> rewrite_row_by_row(const Match& m, Builder& builder) {
  const Node& node = *m.root;
  const auto& dims = node.output(0)->type.dims;
  if (builder.opset() < 7) return Decline{};
  for (const int from : {0, 1}) {
    const auto copies = copies_of(node.input(from), builder.graph);
    const Tensor* other = node.input(1 - from)->known_constant();
    if (!copies || !other || !dims || dims != node.input(from)->type.dims) continue;
    if (!is_same_for_copies(*other, *copies)) return Decline{"the other operand differs between the copies"};
    // An axis of the constant alone that grows would be one that the copies repeat.
    const size_t lacking = dims->size() - other->dims().size();
    bool same = true;
    for (size_t i = lacking; i < dims->size(); ++i)
      same = same && (other->dims()[i - lacking] == 1 || (*dims)[i].is(other->dims()[i - lacking]));
    if (!same) return Decline{"the other operand has further copies"};
    return pushed(node, from, *copies, builder);
  }
  return Decline{};
}

std::vector<Rule> rules() {
  const char* rows = "MatMul|LayerNormalization|RMSNormalization|SimplifiedLayerNormalization|Gelu|Relu|Tanh|Sigmoid";
  return {{Pattern::op(rows, {Pattern::any("x")}).open(), rewrite_rows},
          {Pattern::op("Add|Sub|Mul|Div", {Pattern::any("a"), Pattern::any("b")}), rewrite_row_by_row}};
}

}  // namespace

const Pass push_expands = {"push_expands", "compute what is repeated before it is, where it is constant", rules};

}  // namespace mlopt::graphopt
