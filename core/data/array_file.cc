#include "core/data/array_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"

namespace mlopt {
namespace {

/// The same elements with the axes reversed: column-major bytes read as row-major ones are the transpose.
Tensor transpose_all(const Tensor& in, const Dims& dims) {
  if (in.dtype() == DType::kString)
    input_error("texts in column-major order are not supported", {}, "save them with order='C'");
  Tensor out(in.dtype(), dims);
  const auto width = static_cast<size_t>(bits(in.dtype()) / 8);
  const std::byte* from = in.raw();
  std::byte* to = out.mutable_raw();
  Dims strides(dims.size(), 1);  // of the column-major source, in elements
  for (size_t d = 1; d < dims.size(); ++d) strides[d] = strides[d - 1] * dims[d - 1];
  Dims index(dims.size(), 0);
  for (int64_t i = 0, at = 0; i < out.size(); ++i) {
    std::copy_n(from + static_cast<size_t>(at) * width, width, to + static_cast<size_t>(i) * width);
    for (size_t d = dims.size(); d-- > 0;) {
      at += strides[d];
      if (++index[d] < dims[d]) break;
      at -= strides[d] * dims[d];
      index[d] = 0;
    }
  }
  return out;
}

}  // namespace

ArrayFile::ArrayFile(std::string name, Source source)
    : name_(std::move(name)), source_(std::move(source)), header_(read_npy_header(*source_)) {}

int64_t ArrayFile::rows() const {
  if (header_.dims.empty()) {
    input_error(fmt::format("the array '{}' is a scalar: it has no axis of samples", name_), where(),
                "the first axis of every array is the sample");
  }
  return header_.dims[0];
}

Tensor ArrayFile::row(int64_t i) const {
  if (i < 0 || i >= rows()) internal_error(fmt::format("row {} of {}", i, rows()), where());
  const Dims dims(header_.dims.begin() + 1, header_.dims.end());
  if (!header_.fortran || header_.dims.size() == 1) {
    return read_npy_elements(*source_, header_, i * element_count(dims), dims);
  }
  // A row of a column-major array is scattered over the file: one element every rows() elements.
  const Dims reversed(dims.rbegin(), dims.rend());
  Tensor scattered(header_.dtype, reversed);
  const auto width = static_cast<size_t>(header_.item_bytes);
  for (int64_t e = 0; e < scattered.size(); ++e) {
    const Tensor one = read_npy_elements(*source_, header_, i + e * rows(), {});
    std::copy_n(one.raw(), width, scattered.mutable_raw() + static_cast<size_t>(e) * width);
  }
  return transpose_all(scattered, dims);
}

Tensor ArrayFile::whole() const {
  if (!header_.fortran || header_.dims.size() < 2) return read_npy_elements(*source_, header_, 0, header_.dims);
  const Dims reversed(header_.dims.rbegin(), header_.dims.rend());
  return transpose_all(read_npy_elements(*source_, header_, 0, reversed), header_.dims);
}

ArrayFile open_npy(const std::string& path) {
  return ArrayFile(std::filesystem::path(path).stem().string(), open_source(path));
}

NamedTensors read_npz(const std::string& path) {
  NamedTensors arrays;
  for (const ArrayFile& array : open_npz(path)) arrays.emplace_back(array.name(), array.whole());
  return arrays;
}

}  // namespace mlopt
