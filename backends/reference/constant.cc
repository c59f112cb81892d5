#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backends/reference/kernels.h"
#include "backends/reference/movement.h"

namespace mlopt::reference {
namespace {

/// Constant holds its value in the one attribute that it has, by kind.
void constant(Call& call) {
  const NodeView& view = call.view;
  const auto list = [](const auto& values) { return Tensor::of({static_cast<int64_t>(values.size())}, values); };
  if (const Tensor* value = view.get_tensor("value")) return call.set(0, *value);
  if (view.has("value_float")) return call.set(0, Tensor::scalar(view.get_float("value_float", 0)));
  if (view.has("value_int")) return call.set(0, Tensor::scalar<int64_t>(view.get_int("value_int")));
  if (view.has("value_string")) return call.set(0, Tensor::of_strings({}, {view.get_string("value_string", "")}));
  if (view.has("value_floats")) return call.set(0, list(view.get_floats("value_floats")));
  if (view.has("value_ints")) return call.set(0, list(view.get_ints("value_ints")));
  if (view.has("value_strings")) {
    std::vector<std::string> texts = view.get_strings("value_strings");
    return call.set(0, Tensor::of_strings({static_cast<int64_t>(texts.size())}, texts));
  }
  if (view.has("sparse_value")) unsupported_error("Constant with a sparse value cannot be run", view.node().label());
  fail(call, "Constant has no value");
}

/// A tensor of one element repeated over `dims`.
Tensor filled(const Tensor& value, const Dims& dims) {
  const Dims strides(dims.size(), 0);
  return gather_strided(value, dims, strides);
}

void constant_of_shape(Call& call) {
  const Tensor* value = call.view.get_tensor("value");
  require(call, !value || value->size() == 1, "attribute value must have one element");
  Dims dims = to_ints(call.in(0));
  call.set(0, value ? filled(value->aligned(), dims) : Tensor::zeros(DType::kF32, std::move(dims)));
}

void eye_like(Call& call) {
  const Tensor& like = call.in(0);
  require(call, like.rank() == 2, "EyeLike needs a matrix");
  const int64_t rows = like.dim(0), columns = like.dim(1);
  const int64_t k = std::clamp(call.view.get_int("k", 0), -rows - 1, columns + 1);
  Tensor eye = Tensor::zeros(DType::kU8, {rows, columns});
  auto* cell = eye.mutable_data<uint8_t>();
  for (int64_t row = std::max<int64_t>(0, -k); row < rows && row + k < columns; ++row)
    cell[row * columns + row + k] = 1;
  const auto type = static_cast<DType>(call.view.get_int("dtype", static_cast<int64_t>(like.dtype())));
  if (!is_float(type) && !is_integer(type) && type != DType::kBool) wrong_type(call, type);
  call.set(0, cast(eye, type));
}

/// How many steps of `delta` lie in [start, limit).
template <class T>
int64_t range_count(const Call& call, T start, T limit, T delta) {
  require(call, delta != 0, "the step of a Range must not be 0");
  if constexpr (std::is_floating_point_v<T>) {
    const double count =
        std::ceil((static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(delta));
    require(call, std::isfinite(count) && count < 0x1p48, "a Range is too long or not finite");
    return count > 0 ? static_cast<int64_t>(count) : 0;
  } else {
    const __int128 span = static_cast<__int128>(limit) - start, step = delta;
    if (span == 0 || (span < 0) != (step < 0)) return 0;
    const __int128 count = (span + step + (step > 0 ? -1 : 1)) / step;
    require(call, count < (int64_t{1} << 48), "a Range is too long");
    return static_cast<int64_t>(count);
  }
}

void range(Call& call) {
  const DType type = call.in(0).dtype();
  with_number(call, type, [&](auto sample) {
    using T = decltype(sample);
    const auto scalar = [&](int i) {
      const Tensor& tensor = call.in(i);
      if (tensor.dtype() != type || tensor.size() != 1) fail(call, "the inputs of a Range must be scalars of one type");
      return *as(tensor, dtype_of<T>()).template data<T>();
    };
    const T start = scalar(0), limit = scalar(1), delta = call.has(2) ? scalar(2) : T{1};
    Tensor out(dtype_of<T>(), {range_count(call, start, limit, delta)});
    T* cell = out.mutable_data<T>();
    for (int64_t i = 0; i < out.size(); ++i) {
      if constexpr (std::is_integral_v<T>)  // only the sum is sure to fit
        cell[i] =
            static_cast<T>(static_cast<uint64_t>(start) + static_cast<uint64_t>(i) * static_cast<uint64_t>(delta));
      else
        cell[i] = static_cast<T>(start + static_cast<T>(i) * delta);
    }
    call.set(0, as(out, type));
  });
}

/// The class of each index: counted from the end where that is allowed, -1 when outside [0, depth).
std::vector<int64_t> one_hot_classes(const Call& call, int64_t depth) {
  const bool from_end = call.view.opset() >= 11;
  std::vector<int64_t> classes;
  classes.reserve(static_cast<size_t>(call.in(0).size()));
  for (const double index : to_doubles(call.in(0))) {
    const double place = std::trunc(index < 0 && from_end ? index + static_cast<double>(depth) : index);
    classes.push_back(place >= 0 && place < static_cast<double>(depth) ? static_cast<int64_t>(place) : -1);
  }
  return classes;
}

void one_hot(Call& call) {
  const Tensor &indices = call.in(0), &values = call.in(2);
  const int64_t depth = int_in(call, 1, 0);
  require(call, depth > 0, "the depth of a OneHot must be positive");
  require(call, values.size() == 2, "the values of a OneHot must be two: off and on");
  const int axis = axis_of(call, call.view.get_int("axis", -1), indices.rank() + 1);
  Dims dims = indices.dims();
  dims.insert(dims.begin() + axis, depth);
  ElementCodec codec(values.dtype());
  const Tensor pair = codec.open(values);
  Tensor out = codec.blank(std::move(dims));
  const AxisView around = around_axis(out.dims(), axis);
  const std::vector<int64_t> classes = one_hot_classes(call, depth);
  by_width(codec.width(), [&](auto sample) {
    using T = decltype(sample);
    const T* off_on = reinterpret_cast<const T*>(pair.raw());
    T* cell = reinterpret_cast<T*>(out.mutable_raw());
    std::fill_n(cell, out.size(), off_on[0]);
    for (int64_t i = 0; i < static_cast<int64_t>(classes.size()); ++i) {
      const int64_t place = classes[static_cast<size_t>(i)], outer = i / around.inner, inner = i % around.inner;
      if (place >= 0) cell[(outer * depth + place) * around.inner + inner] = off_on[1];
    }
  });
  call.set(0, codec.close(std::move(out)));
}

void trilu(Call& call) {
  const Tensor& data = call.in(0);
  require(call, data.rank() >= 2, "Trilu needs matrices");
  const int64_t rows = data.dim(data.rank() - 2), columns = data.dim(data.rank() - 1);
  const int64_t k = std::clamp(int_in(call, 1, 0), -rows - 1, columns + 1);
  const bool upper = call.view.get_int("upper", 1) != 0;
  ElementCodec codec(data.dtype());
  Tensor out = codec.open(data);
  if (out.size() > 0) {
    const size_t width = codec.width();
    std::byte* cell = out.mutable_raw();
    for (int64_t row = 0; row < out.size() / columns; ++row, cell += static_cast<size_t>(columns) * width) {
      const int64_t edge = std::clamp<int64_t>(row % rows + k + (upper ? 0 : 1), 0, columns);
      const int64_t first = upper ? 0 : edge, last = upper ? edge : columns;
      std::memset(cell + static_cast<size_t>(first) * width, 0, static_cast<size_t>(last - first) * width);
    }
  }
  call.set(0, codec.close(std::move(out)));
}

constexpr Kernel kKernels[] = {
    {"", "Constant", constant},        {"", "ConstantOfShape", constant_of_shape},
    {"", "EyeLike", eye_like},         {"", "Range", range},
    {"", "OneHot", one_hot},           {"", "Trilu", trilu},
    {"com.microsoft", "Range", range}, {"com.microsoft", "Trilu", trilu},
};

}  // namespace

std::span<const Kernel> constant_kernels() { return kKernels; }

}  // namespace mlopt::reference
