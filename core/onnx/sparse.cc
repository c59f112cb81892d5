// Sparse constants as dense ones; their nodes keep the sparse form and are written back with it.
#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/onnx/proto.h"
#include "core/tensor/cast.h"

namespace mlopt::proto {
namespace {

constexpr size_t kLeastBytes =
    256;  // smaller ones are mostly shapes, which readers want to know when they infer others
constexpr size_t kMostBytes = size_t{1} << 28;  // larger ones stay sparse: a few bytes of file must not fill the memory

/// Where element k of the values lies in the dense tensor: indices are places, or a coordinate for each axis.
int64_t place_of(const std::vector<int64_t>& indices, int64_t k, int64_t columns, const Dims& dims, int64_t size) {
  int64_t place = 0;
  for (int64_t c = 0; c < columns; ++c) {
    const int64_t index = indices[static_cast<size_t>(k * columns + c)];
    const int64_t end = columns == 1 ? size : dims[static_cast<size_t>(c)];
    if (index < 0 || index >= end) return -1;
    place = columns == 1 ? index : place * end + index;
  }
  return place;
}

}  // namespace

std::optional<Tensor> dense(const onnx::SparseTensorProto& sparse, Source& source, const std::string& where) {
  const Dims dims(sparse.dims().begin(), sparse.dims().end());
  const Tensor values = read_tensor(sparse.values(), source);
  const Tensor indices = read_tensor(sparse.indices(), source);
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t size = element_count(dims);
  const auto width = static_cast<size_t>(bits(values.dtype())) / 8;
  if (width == 0 || packed_bytes(values.dtype(), size) > kMostBytes) return std::nullopt;
  const int64_t columns = indices.rank() == 2 ? indices.dim(1) : 1;
  if (indices.dtype() != DType::kI64 || values.rank() != 1 || indices.rank() < 1 || indices.rank() > 2 ||
      indices.dim(0) != values.size() || (indices.rank() == 2 && columns != rank))
    input_error("the indices of a sparse tensor do not fit its values", where);
  const std::vector<int64_t> list = to_ints(indices);
  Tensor out = Tensor::zeros(values.dtype(), dims);
  for (int64_t k = 0; k < values.size(); ++k) {
    const int64_t place = place_of(list, k, columns, dims, size);
    if (place < 0) input_error("an index of a sparse tensor is out of range", where);
    std::memcpy(out.mutable_raw() + static_cast<size_t>(place) * width, values.raw() + static_cast<size_t>(k) * width,
                width);
  }
  return out;
}

bool write_sparse(const Value& value, onnx::GraphProto& out) {
  const Tensor& tensor = *value.constant;
  const auto width = static_cast<size_t>(bits(tensor.dtype())) / 8;
  if (width == 0 || !value.unknown_fields.empty() || tensor.rank() == 0 || tensor.bytes() < kLeastBytes ||
      tensor.bytes() > kMostBytes)
    return false;
  std::string values, places;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const auto* element = reinterpret_cast<const char*>(tensor.raw()) + static_cast<size_t>(i) * width;
    if (std::all_of(element, element + width, [](char byte) { return byte == 0; })) continue;
    values.append(element, width);
    places.append(reinterpret_cast<const char*>(&i), sizeof(i));
    if (values.size() + places.size() >= tensor.bytes()) return false;
  }
  const auto count = static_cast<int64_t>(places.size() / sizeof(int64_t));
  onnx::SparseTensorProto& sparse = *out.add_sparse_initializer();
  for (const int64_t d : tensor.dims()) sparse.add_dims(d);
  onnx::TensorProto &elements = *sparse.mutable_values(), &indices = *sparse.mutable_indices();
  elements.set_name(value.name);
  elements.add_dims(count);
  elements.set_data_type(static_cast<int>(tensor.dtype()));
  elements.set_raw_data(std::move(values));
  indices.add_dims(count);
  indices.set_data_type(onnx::TensorProto::INT64);
  indices.set_raw_data(std::move(places));
  return true;
}

void note_sparse_constant(Node& node, Source& source) {
  if (!node.is("Constant") || node.attrs.size() != 1 || node.outputs().size() != 1 || !node.output(0)) return;
  const auto* opaque = std::get_if<OpaqueAttr>(&node.attrs[0].value);
  if (!opaque || opaque->kind != onnx::AttributeProto::SPARSE_TENSOR) return;
  onnx::AttributeProto attribute;
  attribute.ParseFromString(opaque->bytes);
  std::optional<Tensor> constant = dense(attribute.sparse_tensor(), source, source.where("Constant", node.name));
  if (!constant) return;
  node.output(0)->type = Type::tensor(constant->dtype(), constant->dims());
  node.output(0)->constant = std::move(constant);
}

}  // namespace mlopt::proto
