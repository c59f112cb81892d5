#include <fmt/core.h>

#include <cstring>
#include <optional>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/onnx/proto.h"

namespace mlopt::proto {
namespace {

using onnx::TensorProto;

/// What a tensor says of itself, checked before anything is allocated.
struct Header {
  DType type;
  Dims dims;
  int64_t count;
  size_t bytes;
  std::string where;
};

Header read_header(const TensorProto& tensor, const Source& source) {
  Header h{static_cast<DType>(tensor.data_type()),
           {tensor.dims().begin(), tensor.dims().end()},
           1,
           0,
           source.where("tensor", tensor.name())};
  if (tensor.data_type() <= 0) input_error("a tensor without an element type", h.where);
  if (tensor.data_type() >= kDTypeCount) {
    const std::string what = fmt::format("element type {} is not known here", tensor.data_type());
    TensorProto::DataType_IsValid(tensor.data_type()) ? unsupported_error(what, h.where) : input_error(what, h.where);
  }
  if (tensor.has_segment()) unsupported_error("a tensor stored in segments", h.where);
  for (const int64_t dim : h.dims)
    if (dim < 0) input_error(fmt::format("a tensor with a negative dimension ({})", dim), h.where);
  try {
    h.count = element_count(h.dims);
  } catch (const Error&) {
    input_error("a tensor whose shape is impossible (" + to_string(h.dims) + ")", h.where);
  }
  h.bytes = packed_bytes(h.type, h.count);
  return h;
}

[[noreturn]] void wrong_size(const Header& h, uint64_t found, uint64_t needed, std::string_view unit) {
  input_error(fmt::format("tensor data do not fit the shape: {} {} needs {} {}, there are {}", name(h.type),
                          to_string(h.dims), needed, unit, found),
              h.where);
}

/// Storage that is repeated numbers of type From, each the bits of one element of type To (the low ones when narrower).
template <class To, class From>
Tensor from_numbers(const Header& h, const google::protobuf::RepeatedField<From>& values) {
  const size_t needed = h.bytes / sizeof(To);
  if (static_cast<size_t>(values.size()) != needed) wrong_size(h, values.size(), needed, "numbers");
  Tensor tensor(h.type, h.dims);
  std::byte* out = tensor.mutable_raw();
  for (const From value : values) {
    const To element = static_cast<To>(value);
    std::memcpy(out, &element, sizeof element);
    out += sizeof element;
  }
  return tensor;
}

Tensor from_int32(const Header& h, const TensorProto& tensor) {
  switch (bits(h.type)) {
    case 32:
      return from_numbers<int32_t>(h, tensor.int32_data());
    case 16:
      return from_numbers<uint16_t>(h, tensor.int32_data());
    default:
      return from_numbers<uint8_t>(h, tensor.int32_data());  // sub-byte types: one number for each byte
  }
}

/// The fields for values in protobuf's own types.
Tensor from_typed_fields(const Header& h, const TensorProto& tensor) {
  switch (h.type) {
    case DType::kF32:
    case DType::kC64:
      return from_numbers<float>(h, tensor.float_data());
    case DType::kF64:
    case DType::kC128:
      return from_numbers<double>(h, tensor.double_data());
    case DType::kI64:
      return from_numbers<int64_t>(h, tensor.int64_data());
    case DType::kU64:
      return from_numbers<uint64_t>(h, tensor.uint64_data());
    case DType::kU32:
      return from_numbers<uint32_t>(h, tensor.uint64_data());
    case DType::kString: {
      if (tensor.string_data_size() != h.count) wrong_size(h, tensor.string_data_size(), h.count, "strings");
      return Tensor::of_strings(h.dims, {tensor.string_data().begin(), tensor.string_data().end()});
    }
    default:
      return from_int32(h, tensor);
  }
}

/// Raw bytes: large ones stay where they are if something owns them, others are copied.
Tensor from_bytes(const Header& h, wire::Bytes bytes, std::shared_ptr<const void> owner) {
  if (h.type == DType::kString) input_error("a tensor of strings stored as raw data", h.where);
  if (bytes.size() != h.bytes) wrong_size(h, bytes.size(), h.bytes, "bytes");
  if (owner && bytes.size() >= wire::kBlobBytes) return Tensor::view(h.type, h.dims, bytes, std::move(owner));
  Tensor tensor(h.type, h.dims);
  if (!bytes.empty()) std::memcpy(tensor.mutable_raw(), bytes.data(), bytes.size());
  return tensor;
}

/// Where external data are.
struct Place {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

Place read_place(const TensorProto& tensor, const Header& h) {
  Place place;
  const auto number = [&](const onnx::StringStringEntryProto& entry) -> uint64_t {
    const auto value = parse_int(entry.value());
    if (!value || *value < 0)
      input_error(fmt::format("external data: {} is '{}', not a number", entry.key(), entry.value()), h.where);
    return static_cast<uint64_t>(*value);
  };
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") place.location = entry.value();
    if (entry.key() == "offset") place.offset = number(entry);
    if (entry.key() == "length") place.length = number(entry);
  }
  return place;
}

Tensor from_external(const Header& h, const Place& place, Source& source) {
  const Source::External& file = external_file(source, place.location);
  if (place.length && *place.length != h.bytes) wrong_size(h, *place.length, h.bytes, "bytes");
  if (place.offset > file.bytes.size() || h.bytes > file.bytes.size() - place.offset) {
    input_error(fmt::format("external data end too early: '{}' has {} bytes, {} are needed at {}", place.location,
                            file.bytes.size(), h.bytes, place.offset),
                h.where, "check that the file was downloaded or copied completely");
  }
  return from_bytes(h, file.bytes.subspan(place.offset, h.bytes), file.owner);
}

bool has_typed_fields(const TensorProto& t) {
  return t.float_data_size() || t.int32_data_size() || t.int64_data_size() || t.double_data_size() ||
         t.uint64_data_size() || t.string_data_size();
}

}  // namespace

std::optional<uint64_t> blob_index(const TensorProto& tensor) {
  std::optional<uint64_t> index;
  const auto& fields = tensor.unknown_fields();
  for (int i = 0; i < fields.field_count(); ++i)
    if (fields.field(i).number() == wire::kBlobField) index = fields.field(i).varint();
  return index;
}

Tensor read_tensor(const TensorProto& tensor, Source& source) {
  const Header h = read_header(tensor, source);
  const auto blob = blob_index(tensor);
  const bool external = tensor.data_location() == TensorProto::EXTERNAL;
  if (external)
    external_file(source, read_place(tensor, h).location);  // a path that must be refused is, before all else
  const bool raw = tensor.has_raw_data() && !tensor.raw_data().empty();
  if (int{external} + int{raw} + int{blob.has_value()} + int{has_typed_fields(tensor)} > 1)
    input_error("a tensor with its data given twice", h.where);
  if (external) return from_external(h, read_place(tensor, h), source);
  if (blob) return from_bytes(h, source.blobs.at(*blob), source.owner);
  if (raw) return from_bytes(h, std::as_bytes(std::span(tensor.raw_data())), nullptr);
  return from_typed_fields(h, tensor);
}

void write_tensor(const Tensor& tensor, TensorProto& out, Blobs& blobs) {
  out.set_data_type(static_cast<int32_t>(tensor.dtype()));
  out.mutable_dims()->Assign(tensor.dims().begin(), tensor.dims().end());
  if (tensor.dtype() == DType::kString) {
    for (const std::string& text : tensor.strings()) out.add_string_data(text);
  } else if (tensor.bytes() >= wire::kBlobBytes) {
    out.mutable_unknown_fields()->AddVarint(wire::kBlobField, blobs.size());
    blobs.push_back(tensor);
  } else {
    out.set_raw_data(tensor.raw(), tensor.bytes());
  }
}

}  // namespace mlopt::proto
