#include "graphopt/passes/slicing.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/ir/slice_span.h"
#include "graphopt/passes/reduction.h"

namespace mlopt::graphopt {

std::optional<Slicing> Slicing::of(const NodeView& view) {
  const auto starts = view.ints("starts", 1), ends = view.ints("ends", 2);
  auto axes = view.ints("axes", 3);
  auto steps = view.opset() < 10 ? std::vector<int64_t>{} : view.ints("steps", 4);
  const auto& dims = view.node().input(0)->type.dims;
  if (!starts || !ends || !axes || !steps || !dims || starts->size() != ends->size()) return std::nullopt;
  if (axes->empty()) {
    axes->resize(starts->size());
    std::iota(axes->begin(), axes->end(), int64_t{0});
  }
  if (steps->empty()) steps->assign(starts->size(), 1);
  const auto rank = static_cast<int64_t>(dims->size());
  if (axes->size() != starts->size() || steps->size() != starts->size() || !ordered_axes(*axes, rank))
    return std::nullopt;
  for (int64_t& axis : *axes) axis += axis < 0 ? rank : 0;
  return Slicing{*axes, *starts, *ends, *steps};
}

Value* Slicing::make(Builder& builder, Value* x, Type type) const {
  if (builder.opset() < 10)
    return builder.op("Slice", {x}, {{"axes", axes, {}}, {"starts", starts, {}}, {"ends", ends, {}}}, std::move(type));
  const auto ints = [&](const char* what, const std::vector<int64_t>& values) {
    return builder.constant(x->name + what, Tensor::ints(values));
  };
  std::vector<Value*> inputs = {x, ints("_starts", starts), ints("_ends", ends), ints("_axes", axes)};
  if (std::any_of(steps.begin(), steps.end(), [](int64_t step) { return step != 1; }))
    inputs.push_back(ints("_steps", steps));
  return builder.op("Slice", std::move(inputs), {}, std::move(type));
}

std::optional<size_t> reversed_axis(const NodeView& slice) {
  const auto slicing = Slicing::of(slice);
  if (!slicing || slicing->axes.size() != 1 || slicing->steps[0] != -1) return std::nullopt;
  const auto axis = static_cast<size_t>(slicing->axes[0]);
  // A size that is not known is below any limit that exporters write for "all".
  const int64_t length = (*slice.node().input(0)->type.dims)[axis].value().value_or(kBeyondSizes);
  const SliceSpan span = slice_span(length, slicing->starts[0], slicing->ends[0], -1);
  return span.count == length ? std::optional(axis) : std::nullopt;
}

Value* reversed(Builder& builder, Value* x, size_t axis) {
  const Slicing all{{static_cast<int64_t>(axis)}, {-1}, {std::numeric_limits<int64_t>::min()}, {-1}};
  return all.make(builder, x, x->type);
}

}  // namespace mlopt::graphopt
