// Reshape(x W) + c, where the Reshape parts the last axis and c is a constant of these parts -> Reshape(x W + c), so
// that product and sum stay together, which they are not in Keras' EinsumDense; Softmax of rows of a Reshape that joins
// other axes for a product of matrices -> Reshape of the Softmax, so that the product may do without it.
#include <algorithm>

#include "core/rewrite/axis_map.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

/// The lengths of the parts of the last axis; nothing where the Reshape does something else.
std::optional<Dims> parts_of(const Node& reshape) {
  const auto &from = reshape.input(0)->type.dims, &to = reshape.output(0)->type.dims;
  if (!from || !to || from->empty() || to->size() <= from->size()) return std::nullopt;
  const size_t rows = from->size() - 1;
  for (size_t i = 0; i < rows; ++i)
    if (!((*from)[i] == (*to)[i])) return std::nullopt;
  Dims parts;
  Dim whole = 1;
  for (size_t i = rows; i < to->size(); ++i) {
    const auto length = (*to)[i].value();
    if (!length) return std::nullopt;
    parts.push_back(*length);
    whole = whole * (*to)[i];
  }
  return whole == from->back() ? std::optional(parts) : std::nullopt;
}

/// The constant as a row of all parts, or one number; nothing where it differs between rows, or would have to grow.
std::optional<Tensor> as_row(const Tensor& c, const Dims& parts) {
  if (c.size() == 1) return c.reshaped({});
  Dims dims = c.dims();
  while (dims.size() > parts.size() && dims.front() == 1) dims.erase(dims.begin());
  return dims == parts ? std::optional(c.reshaped({c.size()})) : std::nullopt;
}

bool makes_rows(const Node* node) {
  constexpr const char* kOps[] = {"MatMul", "Add", "Sub", "Mul", "Div"};
  return node && std::any_of(std::begin(kOps), std::end(kOps), [&](const char* op) { return node->is(op); });
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node& reshape = *m.node("reshape");
  Value* x = m.value("x");
  if (!makes_rows(x->producer) || builder.opset() < 7) return Decline{};
  const auto parts = parts_of(reshape);
  if (!parts) return Decline{"the Reshape does not part the last axis"};
  const auto& out = m.root->output(0)->type.dims;
  if (!out || out->size() != reshape.output(0)->type.dims->size()) return Decline{"the constant has more axes"};
  const auto row = as_row(m.constant("c"), *parts);
  if (!row) return Decline{"the constant is no number for each of the parts"};
  Value* c =
      m.value("c")->known_constant()->dims() == row->dims() ? m.value("c") : builder.successor(m.value("c"), *row);
  const bool first = m.root->input(0) == reshape.output(0);
  Value* y = builder.op(m.root->op, first ? std::vector<Value*>{x, c} : std::vector<Value*>{c, x}, {}, x->type);
  std::vector<Value*> inputs = reshape.inputs();
  inputs[0] = y;
  return Replacement{builder.op("Reshape", std::move(inputs), reshape.attrs, m.root->output(0)->type)};
}

Expected<Replacement> rewrite_softmax(const Match& m, Builder& builder) {
  const Node& reshape = *m.node("reshape");
  const Value* y = m.root->output(0);
  if (!y->single_use() || !y->uses[0].node->is("MatMul")) return Decline{};
  const auto &from = m.value("x")->type.dims, &to = y->type.dims;
  const bool joins = from && to && from->size() == 4 && to->size() == 3 && from->back() == to->back();
  if (!joins || without_ones(*from) == without_ones(*to))
    return Decline{"the Reshape joins no axes before the last one"};
  const int64_t axis = builder.view(*m.root).get_int("axis", builder.opset() < 13 ? 1 : -1);
  if (axis != -1 && axis + 1 != static_cast<int64_t>(to->size())) return Decline{"another axis than the last one"};
  Value* rows =
      builder.op("Softmax", {m.value("x")}, {{"axis", static_cast<int64_t>(from->size()) - 1, ""}}, m.value("x")->type);
  std::vector<Value*> inputs = reshape.inputs();
  inputs[0] = rows;
  return Replacement{builder.op("Reshape", std::move(inputs), reshape.attrs, y->type)};
}

std::vector<Rule> rules() {
  const auto reshape = [] { return Pattern::op("Reshape", {Pattern::any("x")}).open().as("reshape").single_use(); };
  return {{Pattern::op("Add|Mul", {reshape(), Pattern::constant("c")}).any_order(), rewrite},
          {Pattern::op("Sub|Div", {reshape(), Pattern::constant("c")}), rewrite},
          {Pattern::op("Softmax", {reshape()}), rewrite_softmax}};
}

}  // namespace

const Pass push_reshapes = {
    "push_reshapes",
    "move a Reshape that parts rows behind sums and products with rows, and one that joins them behind Softmax", rules};

}  // namespace mlopt::graphopt
