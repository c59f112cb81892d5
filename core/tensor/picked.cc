#include "core/tensor/picked.h"

#include <cstring>

namespace mlopt {

Tensor picked(const Tensor& tensor, int axis, const std::vector<int64_t>& positions) {
  Dims dims = tensor.dims();
  const auto old = static_cast<size_t>(dims[static_cast<size_t>(axis)]), size = positions.size();
  dims[static_cast<size_t>(axis)] = static_cast<int64_t>(size);
  Tensor out(tensor.dtype(), dims);
  if (tensor.bytes() == 0) return out;
  const auto inner = static_cast<size_t>(row_major_strides(tensor.dims())[static_cast<size_t>(axis)]);
  const size_t width = inner * (tensor.bytes() / static_cast<size_t>(tensor.size()));
  const size_t outer = tensor.bytes() / (old * width);
  std::byte* to = out.mutable_raw();
  for (size_t o = 0; o < outer; ++o)
    for (size_t i = 0; i < size; ++i)
      std::memcpy(to + (o * size + i) * width, tensor.raw() + (o * old + static_cast<size_t>(positions[i])) * width,
                  width);
  return out;
}

Tensor transposed(const Tensor& matrix) {
  const int64_t rows = matrix.dim(0), columns = matrix.dim(1);
  Tensor out(matrix.dtype(), {columns, rows});
  if (matrix.bytes() == 0) return out;
  const size_t width = matrix.bytes() / static_cast<size_t>(matrix.size());
  const std::byte* from = matrix.raw();
  std::byte* to = out.mutable_raw();
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c, from += width)
      std::memcpy(to + static_cast<size_t>(c * rows + r) * width, from, width);
  return out;
}

}  // namespace mlopt
