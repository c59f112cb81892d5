#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "backends/reference/indices.h"
#include "backends/reference/kernels.h"
#include "backends/reference/movement.h"
#include "core/base/parallel.h"

namespace mlopt::reference {

std::vector<int64_t> axis_indices(const Call& call, const Tensor& indices, int64_t length) {
  if (indices.dtype() != DType::kI64 && indices.dtype() != DType::kI32) wrong_type(call, indices.dtype());
  std::vector<int64_t> places = to_ints(indices);
  for (int64_t& place : places) {
    if (place < -length || place >= length)
      fail(call, fmt::format("index {} is outside an axis of {} elements", place, length));
    if (place < 0) place += length;
  }
  return places;
}

std::vector<int64_t> tuple_offsets(const Call& call, const Tensor& indices, const Dims& dims, size_t first) {
  const auto tuple = static_cast<size_t>(indices.dim(indices.rank() - 1));
  const Dims strides = row_major_strides(dims);
  std::vector<int64_t> places = to_ints(indices), offsets;
  for (size_t i = 0; i + tuple <= places.size() && tuple > 0; i += tuple) {
    int64_t offset = 0;
    for (size_t k = 0; k < tuple; ++k) {
      const int64_t place = places[i + k], length = dims[first + k];
      if (place < -length || place >= length)
        fail(call, fmt::format("index {} is outside an axis of {} elements", place, length));
      offset += (place < 0 ? place + length : place) * strides[first + k];
    }
    offsets.push_back(offset);
  }
  if (tuple == 0)
    offsets.assign(static_cast<size_t>(element_count({indices.dims().begin(), indices.dims().end() - 1})), 0);
  return offsets;
}

namespace {

/// Blocks of `block` elements of `data`, one from each offset, as a tensor of shape `dims`.
Tensor gather_blocks(const Tensor& data, std::span<const int64_t> offsets, int64_t block, Dims dims) {
  ElementCodec codec(data.dtype());
  const Tensor from = codec.open(data);
  Tensor to = codec.blank(std::move(dims));
  const size_t bytes = static_cast<size_t>(block) * codec.width();
  if (to.size() == 0) return codec.close(std::move(to));
  std::byte* target = to.mutable_raw();
  const auto grain = static_cast<int64_t>(1 + (size_t{1} << 17) / bytes);
  parallel_for(static_cast<int64_t>(offsets.size()), grain, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      std::memcpy(target + i * bytes, from.raw() + static_cast<size_t>(offsets[i]) * codec.width(), bytes);
  });
  return codec.close(std::move(to));
}

/// Slices of `data` along `axis` at `places`, where the axis is replaced by `places_dims`.
Tensor take(const Tensor& data, int axis, std::span<const int64_t> places, const Dims& places_dims) {
  const AxisView view = around_axis(data.dims(), axis);
  Dims dims(data.dims().begin(), data.dims().begin() + axis);
  dims.insert(dims.end(), places_dims.begin(), places_dims.end());
  dims.insert(dims.end(), data.dims().begin() + axis + 1, data.dims().end());
  std::vector<int64_t> offsets;
  if (element_count(dims) > 0) {
    offsets.reserve(static_cast<size_t>(view.outer) * places.size());
    for (int64_t outer = 0; outer < view.outer; ++outer)
      for (const int64_t place : places) offsets.push_back((outer * view.length + place) * view.inner);
  }
  return gather_blocks(data, offsets, view.inner, std::move(dims));
}

void gather(Call& call) {
  const Tensor &data = call.in(0), &indices = call.in(1);
  const int axis = axis_of(call, call.view.get_int("axis", 0), data.rank());
  call.set(0, take(data, axis, axis_indices(call, indices, data.dim(axis)), indices.dims()));
}

void gather_elements(Call& call) {
  const Tensor &data = call.in(0), &indices = call.in(1);
  const int axis = axis_of(call, call.view.get_int("axis", 0), data.rank());
  call.set(0, gather_blocks(data, element_offsets(call, indices, data.dims(), axis), 1, indices.dims()));
}

void gather_nd(Call& call) {
  const Tensor &data = call.in(0), &indices = call.in(1);
  const int64_t batch_axes = call.view.get_int("batch_dims", 0);
  require(call, data.rank() >= 1 && indices.rank() >= 1, "data and indices must have at least one axis");
  require(call, batch_axes >= 0 && batch_axes < std::min(data.rank(), indices.rank()), "batch_dims is out of range");
  const auto batch = static_cast<std::ptrdiff_t>(batch_axes);
  require(call, std::equal(data.dims().begin(), data.dims().begin() + batch, indices.dims().begin()),
          "the batch axes of data and indices differ");
  const int64_t tuple = indices.dim(indices.rank() - 1);
  require(call, batch_axes + tuple <= data.rank(), "the indices name more axes than the data has");
  const auto rest = data.dims().begin() + batch + static_cast<std::ptrdiff_t>(tuple);
  std::vector<int64_t> offsets = tuple_offsets(call, indices, data.dims(), static_cast<size_t>(batch));
  const int64_t batches = element_count({data.dims().begin(), data.dims().begin() + batch});
  const int64_t stride = batches > 0 ? data.size() / batches : 0;
  const int64_t each = batches > 0 ? std::max<int64_t>(1, static_cast<int64_t>(offsets.size()) / batches) : 1;
  for (int64_t i = 0; i < static_cast<int64_t>(offsets.size()); ++i)
    offsets[static_cast<size_t>(i)] += i / each * stride;
  Dims dims(indices.dims().begin(), indices.dims().end() - 1);
  dims.insert(dims.end(), rest, data.dims().end());
  call.set(0, gather_blocks(data, offsets, element_count({rest, data.dims().end()}), std::move(dims)));
}

void compress(Call& call) {
  const bool flat = !call.view.has("axis");
  const Tensor data = flat ? call.in(0).reshaped({call.in(0).size()}) : call.in(0);
  const int axis = flat ? 0 : axis_of(call, call.view.get_int("axis"), data.rank());
  const Tensor& condition = call.in(1);
  if (condition.dtype() != DType::kBool) wrong_type(call, condition.dtype());
  require(call, condition.rank() == 1 && condition.size() <= data.dim(axis),
          "the condition must be a list no longer than the axis");
  std::vector<int64_t> places;
  for (int64_t i = 0; i < condition.size(); ++i)
    if (condition.data<bool>()[i]) places.push_back(i);
  call.set(0, take(data, axis, places, {static_cast<int64_t>(places.size())}));
}

/// One bit of the element other than a float's sign is set; a string is not empty.
std::vector<int64_t> nonzero_places(const Tensor& data) {
  std::vector<int64_t> places;
  if (data.dtype() == DType::kString) {
    for (int64_t i = 0; i < data.size(); ++i)
      if (!data.strings()[static_cast<size_t>(i)].empty()) places.push_back(i);
    return places;
  }
  const Tensor numbers = cast(data, is_float(data.dtype()) ? DType::kF64 : DType::kBool);
  for (int64_t i = 0; i < data.size(); ++i)
    if (numbers.dtype() == DType::kBool ? numbers.data<bool>()[i] : numbers.data<double>()[i] != 0) places.push_back(i);
  return places;
}

void non_zero(Call& call) {
  const Tensor& data = call.in(0);
  const std::vector<int64_t> places = nonzero_places(data);
  const Dims strides = row_major_strides(data.dims());
  const auto count = static_cast<int64_t>(places.size());
  Tensor out(DType::kI64, {data.rank(), count});
  auto* cell = out.mutable_data<int64_t>();
  for (size_t axis = 0; axis < strides.size(); ++axis)
    for (const int64_t place : places) *cell++ = place / strides[axis] % data.dims()[axis];
  call.set(0, std::move(out));
}

constexpr Kernel kKernels[] = {
    {"", "Gather", gather},      {"", "GatherElements", gather_elements},
    {"", "GatherND", gather_nd}, {"", "Compress", compress},
    {"", "NonZero", non_zero},   {"com.microsoft", "GatherND", gather_nd},
};

}  // namespace

std::vector<int64_t> element_offsets(const Call& call, const Tensor& indices, const Dims& dims, int axis) {
  require(call, indices.rank() == static_cast<int>(dims.size()), "data and indices must have the same rank");
  for (int i = 0; i < indices.rank(); ++i)
    require(call, i == axis || indices.dim(i) <= dims[static_cast<size_t>(i)], "the indices are larger than the data");
  std::vector<int64_t> offsets = axis_indices(call, indices, dims[static_cast<size_t>(axis)]);
  const Dims strides = row_major_strides(dims);
  Dims at(dims.size(), 0);
  for (int64_t& offset : offsets) {
    offset *= strides[static_cast<size_t>(axis)];
    for (size_t i = 0; i < dims.size(); ++i)
      if (static_cast<int>(i) != axis) offset += at[i] * strides[i];
    for (size_t i = dims.size(); i-- > 0;) {
      if (++at[i] < indices.dims()[i]) break;
      at[i] = 0;
    }
  }
  return offsets;
}

std::span<const Kernel> gather_kernels() { return kKernels; }

}  // namespace mlopt::reference
