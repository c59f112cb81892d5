#include "backends/reference/compute.h"

#include <fmt/core.h>

namespace mlopt::reference {

void fail(const Call& call, const std::string& what) { input_error(what, call.view.node().label()); }

void wrong_type(const Call& call, DType type) {
  fail(call, fmt::format("{} does not take {}", call.view.node().op, name(type)));
}

int axis_of(const Call& call, int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) fail(call, fmt::format("axis {} is outside a tensor of rank {}", axis, rank));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

double number_in(const Call& call, int i, double otherwise) {
  if (!call.has(i)) return otherwise;
  const Tensor& tensor = call.in(i);
  if (tensor.size() != 1) fail(call, fmt::format("input {} must have one element, not {}", i, tensor.size()));
  return number_at(tensor, 0);
}

int64_t int_in(const Call& call, int i, int64_t otherwise) {
  if (!call.has(i)) return otherwise;
  const Tensor& tensor = call.in(i);
  if (tensor.size() != 1) fail(call, fmt::format("input {} must have one element, not {}", i, tensor.size()));
  return to_ints(tensor)[0];
}

AxisView around_axis(const Dims& dims, int axis) {
  AxisView view;
  for (int i = 0; i < static_cast<int>(dims.size()); ++i) {
    const int64_t dim = dims[static_cast<size_t>(i)];
    if (i < axis)
      view.outer *= dim;
    else if (i == axis)
      view.length = dim;
    else
      view.inner *= dim;
  }
  return view;
}

}  // namespace mlopt::reference
