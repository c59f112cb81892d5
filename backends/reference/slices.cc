#include "backends/reference/slices.h"

#include <fmt/core.h>

#include "backends/reference/concat.h"
#include "backends/reference/movement.h"

namespace mlopt::reference {

Tensor slice_at(const Tensor& data, int axis, int64_t place) {
  const auto removed = static_cast<std::ptrdiff_t>(axis);
  Dims dims = data.dims(), strides = row_major_strides(dims);
  const int64_t offset = place * strides[static_cast<size_t>(axis)];
  dims.erase(dims.begin() + removed);
  strides.erase(strides.begin() + removed);
  return gather_strided(data, dims, strides, offset);
}

Tensor stacked(const Call& call, const std::vector<Tensor>& slices, int axis) {
  std::vector<Tensor> parts;
  for (const Tensor& slice : slices) {
    Dims dims = slice.dims();
    dims.insert(dims.begin() + axis, 1);
    parts.push_back(slice.reshaped(std::move(dims)));
  }
  return concatenated(call, parts, axis);
}

Tensor stacked_nothing(const Call& call, const Value& slice, int64_t axis, const Value* whole) {
  const bool of_slice = !whole || !whole->type.has_dtype() || (slice.type.has_dtype() && slice.type.dims);
  const Type& type = of_slice ? slice.type : whole->type;
  if (!type.has_dtype())
    fail(call, fmt::format("the type of output '{}' of a body that never ran is unknown", slice.name));
  Dims dims;
  if (type.dims)
    for (const Dim& dim : *type.dims) dims.push_back(dim.value().value_or(0));
  if (of_slice || !type.dims)
    dims.insert(dims.begin() + axis_of(call, axis, std::ssize(dims) + 1), 0);
  else
    dims[static_cast<size_t>(axis_of(call, axis, std::ssize(dims)))] = 0;
  return Tensor(type.dtype, std::move(dims));
}

int body_index(const Call& call, std::string_view attr) {
  int index = 0;
  for (const Attr& held : call.view.node().attrs) {
    if (std::holds_alternative<GraphPtr>(held.value)) {
      if (held.name == attr) return index;
      ++index;
    } else if (const auto* graphs = std::get_if<std::vector<GraphPtr>>(&held.value)) {
      index += static_cast<int>(graphs->size());
    }
  }
  fail(call, fmt::format("attribute '{}' is missing", attr));
}

}  // namespace mlopt::reference
