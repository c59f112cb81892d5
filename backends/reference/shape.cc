#include <fmt/core.h>

#include <algorithm>

#include "backends/reference/kernels.h"
#include "backends/reference/movement.h"
#include "core/tensor/cast.h"

namespace mlopt::reference {
namespace {

void shape(Call& call) {
  const Dims& dims = call.in(0).dims();
  const auto rank = static_cast<int64_t>(dims.size());
  const auto place = [&](int64_t index) { return std::clamp<int64_t>(index < 0 ? index + rank : index, 0, rank); };
  const int64_t begin = place(call.view.get_int("start", 0)),
                end = std::max(begin, place(call.view.get_int("end", rank)));
  call.set(0, Tensor::ints({dims.begin() + begin, dims.begin() + end}));
}

void size(Call& call) { call.set(0, Tensor::scalar<int64_t>(call.in(0).size())); }

void identity(Call& call) { call.set(0, call.has(0) ? call.datum(0) : Datum()); }

/// The dims that Reshape asks for, with 0 (copy) and -1 (what is left) resolved.
Dims reshaped_dims(const Call& call, const Tensor& data, Dims dims) {
  const bool copy_zero = call.view.get_int("allowzero", 0) == 0;
  int inferred = -1;
  int64_t known = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && copy_zero) {
      require(call, i < data.dims().size(), "the new shape copies a dimension that the input does not have");
      dims[i] = data.dims()[i];
    }
    if (dims[i] == -1) {
      require(call, inferred < 0, "the new shape has more than one -1");
      inferred = static_cast<int>(i);
    } else {
      known = element_count({known, dims[i]});
    }
  }
  if (inferred >= 0 && known > 0) dims[static_cast<size_t>(inferred)] = data.size() / known;
  if (inferred >= 0 && known == 0) fail(call, "the dimension -1 cannot be told from a shape that has a 0");
  if (element_count(dims) != data.size())
    fail(call, fmt::format("{} elements ({}) cannot have the shape {}", data.size(), to_string(data.dims()),
                           to_string(dims)));
  return dims;
}

void reshape(Call& call) {
  const Tensor& data = call.in(0);
  call.set(0, data.reshaped(reshaped_dims(call, data, call.ints("shape", 1))));
}

void flatten(Call& call) {
  const Tensor& data = call.in(0);
  const int64_t axis = call.view.get_int("axis", 1), rank = data.rank();
  if (axis < -rank || axis > rank) fail(call, fmt::format("axis {} is outside the {} axes of the input", axis, rank));
  const auto split = data.dims().begin() + (axis < 0 ? axis + rank : axis);
  call.set(0, data.reshaped({element_count({data.dims().begin(), split}), element_count({split, data.dims().end()})}));
}

void squeeze(Call& call) {
  const Tensor& data = call.in(0);
  const bool all = !call.view.has("axes") && !call.has(1);
  const std::vector<int> axes = axes_of(call, call.ints("axes", 1), data.rank());
  Dims dims;
  for (int i = 0; i < data.rank(); ++i) {
    const bool drop = all ? data.dim(i) == 1 : std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!drop)
      dims.push_back(data.dim(i));
    else if (data.dim(i) != 1)
      fail(call, fmt::format("axis {} has {} elements and cannot be removed", i, data.dim(i)));
  }
  call.set(0, data.reshaped(std::move(dims)));
}

void unsqueeze(Call& call) {
  const Tensor& data = call.in(0);
  const std::vector<int64_t> wanted = call.ints("axes", 1);
  std::vector<int> axes = axes_of(call, wanted, data.rank() + static_cast<int64_t>(wanted.size()));
  std::sort(axes.begin(), axes.end());
  Dims dims = data.dims();
  for (const int axis : axes) dims.insert(dims.begin() + axis, 1);
  call.set(0, data.reshaped(std::move(dims)));
}

/// com.microsoft's predecessor of Unsqueeze: one axis, in input 1.
void expand_dims(Call& call) {
  const Tensor& data = call.in(0);
  Dims dims = data.dims();
  dims.insert(dims.begin() + axis_of(call, int_in(call, 1, 0), data.rank() + 1), 1);
  call.set(0, data.reshaped(std::move(dims)));
}

void expand(Call& call) {
  const Tensor& data = call.in(0);
  const Dims dims = broadcast(data.dims(), call.ints("shape", 1));
  Dims strides(dims.size(), 0);
  const Dims own = row_major_strides(data.dims());
  for (size_t i = 0; i < own.size(); ++i)
    if (data.dims()[i] != 1) strides[dims.size() - own.size() + i] = own[i];
  call.set(0, gather_strided(data, dims, strides));
}

constexpr Kernel kKernels[] = {
    {"", "Shape", shape},         {"", "Size", size},       {"", "Identity", identity},
    {"", "Reshape", reshape},     {"", "Flatten", flatten}, {"", "Squeeze", squeeze},
    {"", "Unsqueeze", unsqueeze}, {"", "Expand", expand},   {"com.microsoft", "ExpandDims", expand_dims},
};

}  // namespace

std::span<const Kernel> shape_kernels() { return kKernels; }

}  // namespace mlopt::reference
