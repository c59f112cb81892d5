#include "graphopt/passes/slicing.h"

#include <algorithm>
#include <numeric>

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

}  // namespace mlopt::graphopt
