#include "graphopt/passes/reduction.h"

#include <algorithm>
#include <numeric>

namespace mlopt::graphopt {

std::optional<std::vector<int64_t>> ordered_axes(std::vector<int64_t> axes, int64_t rank) {
  for (int64_t& axis : axes) {
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return std::nullopt;
  }
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) return std::nullopt;
  return axes;
}

std::optional<std::vector<int64_t>> squeezed_axes(const NodeView& view) {
  const auto axes = view.ints("axes", 1);
  const auto& dims = view.node().input(0)->type.dims;
  if (!axes || axes->empty() || !dims) return std::nullopt;
  const auto rank = static_cast<int64_t>(dims->size());
  return ordered_axes(*axes, view.node().op == "Unsqueeze" ? rank + static_cast<int64_t>(axes->size()) : rank);
}

Expected<Reduction> Reduction::of(const NodeView& view) {
  const auto& dims = view.node().input(0)->type.dims;
  if (!dims) return Decline{"the rank of its input is not known"};
  const auto rank = static_cast<int64_t>(dims->size());
  auto axes = view.ints("axes", 1);
  if (axes) axes = ordered_axes(*axes, rank);
  if (!axes) return Decline{"its axes are not known"};
  Reduction found{*axes, view.get_int("keepdims", 1) != 0, false};
  if (axes->empty() && view.get_int("noop_with_empty_axes", 0) == 0) {
    found.all_axes = true;
    found.axes.resize(dims->size());
    std::iota(found.axes.begin(), found.axes.end(), int64_t{0});
  }
  return found;
}

SymDims Reduction::shape(const SymDims& x, bool keep) const {
  SymDims dims;
  for (size_t i = 0; i < x.size(); ++i) {
    const bool reduced = std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(i));
    if (!reduced)
      dims.push_back(x[i]);
    else if (keep)
      dims.emplace_back(1);
  }
  return dims;
}

namespace {

bool takes_axes_as_input(const Builder& builder, std::string_view op) {
  return builder.opset() >= (op == "ReduceSum" || op == "Squeeze" || op == "Unsqueeze" ? 13 : 18);
}

Value* with_axes(Builder& builder, std::string_view op, Value* x, const std::vector<int64_t>& axes,
                 std::vector<Attr> attrs, Type type) {
  std::vector<Value*> inputs = {x};
  if (takes_axes_as_input(builder, op))
    inputs.push_back(builder.constant(x->name + "_axes", Tensor::ints(axes)));
  else
    attrs.push_back({"axes", axes, {}});
  return builder.op(op, std::move(inputs), std::move(attrs), std::move(type));
}

}  // namespace

Value* make_reduction(Builder& builder, std::string_view op, Value* x, const Reduction& reduction, Type type) {
  std::vector<Attr> attrs = {{"keepdims", int64_t{reduction.keepdims}, {}}};
  if (reduction.all_axes) return builder.op(op, {x}, std::move(attrs), std::move(type));
  return with_axes(builder, op, x, reduction.axes, std::move(attrs), std::move(type));
}

Value* make_squeeze(Builder& builder, std::string_view op, Value* x, const std::vector<int64_t>& axes, Type type) {
  return with_axes(builder, op, x, axes, {}, std::move(type));
}

}  // namespace mlopt::graphopt
