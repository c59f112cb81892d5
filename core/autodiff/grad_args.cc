#include <fmt/core.h>

#include "core/autodiff/rule.h"
#include "core/base/error.h"
#include "core/ir/typed_op.h"
#include "core/tensor/cast.h"

namespace mlopt::autodiff {

GradArgs::GradArgs(Model& model, const Node& node, std::vector<Value*> grads, std::vector<bool> needed, TypeRule types)
    : view(node, model.opset(node.domain)),
      model_(model),
      grads_(std::move(grads)),
      needed_(std::move(needed)),
      types_(types) {}

void GradArgs::refuse(std::string_view reason) const {
  unsupported_error(fmt::format("no gradient: {}", reason), view.node().label(),
                    "freeze what lies before this node (--freeze GLOB), or replace it");
}

Dims GradArgs::dims(const Value* value) const {
  const auto dims = value->type.static_dims();
  if (!dims) refuse(fmt::format("the shape of '{}' depends on data", value->name));
  return *dims;
}

int64_t GradArgs::axis(int64_t axis) const { return normalize_axis(axis, static_cast<int64_t>(dims(in(0)).size())); }

std::vector<int64_t> GradArgs::ints(std::string_view attr, int i, std::vector<int64_t> otherwise) const {
  if (const auto found = view.ints(attr, i, std::move(otherwise))) return *found;
  std::vector<int64_t> counted;
  for (const Dim& element : in(i)->symbolic.value_or(std::vector<Dim>(1))) {
    if (!element.value()) refuse(fmt::format("its {} depend on data", attr));
    counted.push_back(*element.value());
  }
  return counted;
}

Value* GradArgs::also_out(int i) {
  if (out(i)) return out(i);
  Graph& graph = *model_.graph;
  const Node& node = view.node();
  Node* twin = graph.add_op(node.op, node.inputs(), node.attrs, &node, node.called(), i + 1, node.domain);
  twin->name = node.name;
  infer(model_, *twin, types_);
  for (Value* given : node.outputs())
    if (given) graph.replace_uses(given, twin->output(given->output_index));
  replaced_ = true;
  return twin->output(i);
}

Value* GradArgs::op(std::string_view op, std::vector<Value*> inputs, std::vector<Attr> attrs) {
  Node* made = model_.graph->add_op(std::string(op), std::move(inputs), std::move(attrs), nullptr,
                                    view.node().called() + "/grad");
  infer(model_, *made, types_);
  return made->output(0);
}

Value* GradArgs::again(std::vector<Value*> inputs) {
  const Node& node = view.node();
  Node* made =
      model_.graph->add_op(node.op, std::move(inputs), node.attrs, nullptr, node.called() + "/grad", 1, node.domain);
  infer(model_, *made, types_);
  return made->output(0);
}

std::vector<Value*> GradArgs::own(std::string_view op, std::vector<Value*> inputs, std::vector<Attr> attrs,
                                  const std::vector<Type>& types) {
  return add_typed_op(*model_.graph, op, std::move(inputs), std::move(attrs), types, view.node().called() + "/grad");
}

Value* GradArgs::own(std::string_view op, std::vector<Value*> inputs, std::vector<Attr> attrs, const Value* like) {
  return own(op, std::move(inputs), std::move(attrs), std::vector<Type>{Type::tensor(like->type.dtype, dims(like))})[0];
}

Value* GradArgs::constant(Tensor tensor) { return model_.graph->add_constant("grad/constant", std::move(tensor)); }

Value* GradArgs::number(double value, const Value* like) {
  return constant(cast(Tensor::scalar(value), like->type.dtype));
}

Value* GradArgs::indices(const std::vector<int64_t>& values) { return constant(Tensor::ints(values)); }

Value* GradArgs::zeros(const Value* like) { return constant(Tensor::zeros(like->type.dtype, dims(like))); }

Value* GradArgs::converted(Value* x, DType type) {
  return x->type.dtype == type ? x : op("Cast", {x}, {{"to", static_cast<int64_t>(type), {}}});
}

Value* GradArgs::scaled(Value* x, double factor) { return factor == 1 ? x : op("Mul", {x, number(factor, x)}); }

Value* GradArgs::reshaped(Value* x, const Dims& to) {
  return dims(x) == to ? x : op("Reshape", {x, indices({to.begin(), to.end()})});
}

Value* GradArgs::transposed(Value* x, const std::vector<int64_t>& permutation) {
  return op("Transpose", {x}, {{"perm", permutation, {}}});
}

Value* GradArgs::expanded(Value* x, const Dims& to) {
  return dims(x) == to ? x : op("Expand", {x, indices({to.begin(), to.end()})});
}

Value* GradArgs::sliced(Value* x, int64_t axis, int64_t begin, int64_t end) {
  if (model_.opset() >= 10) return op("Slice", {x, indices({begin}), indices({end}), indices({axis})});
  const auto list = [](int64_t value) { return std::vector<int64_t>{value}; };
  return op("Slice", {x}, {{"starts", list(begin), {}}, {"ends", list(end), {}}, {"axes", list(axis), {}}});
}

Value* GradArgs::padded(Value* x, const std::vector<int64_t>& pads) {
  return model_.opset() >= 11 ? op("Pad", {x, indices(pads)}) : op("Pad", {x}, {{"pads", pads, {}}});
}

Value* GradArgs::sum(Value* x, const std::vector<int64_t>& axes) {
  if (axes.empty()) return x;
  const std::vector<Attr> keep = {{"keepdims", int64_t{1}, {}}};
  if (model_.opset() >= 13) return op("ReduceSum", {x, indices(axes)}, keep);
  return op("ReduceSum", {x}, {{"axes", axes, {}}, keep[0]});
}

}  // namespace mlopt::autodiff
