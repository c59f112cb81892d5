// Values in the form of ONNX's test data: TensorProto, SequenceProto, OptionalProto, MapProto.
#include <onnx/onnx-data.pb.h>

#include <filesystem>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/onnx/io.h"
#include "core/onnx/proto.h"

namespace mlopt {
namespace {

using Kind = Type::Kind;
using onnx::MapProto;
using onnx::OptionalProto;
using onnx::SequenceProto;

Datum read_map(const MapProto& message, proto::Source& source);
Datum read_optional(const OptionalProto& message, proto::Source& source);

Datum read_sequence(const SequenceProto& message, proto::Source& source) {
  std::vector<Datum> items;
  if (message.sparse_tensor_values_size()) unsupported_error("a sequence of sparse tensors", source.path);
  for (const auto& item : message.tensor_values()) items.push_back(proto::read_tensor(item, source));
  for (const auto& item : message.sequence_values()) items.push_back(read_sequence(item, source));
  for (const auto& item : message.map_values()) items.push_back(read_map(item, source));
  for (const auto& item : message.optional_values()) items.push_back(read_optional(item, source));
  return Datum::sequence(std::move(items));
}

Datum read_map(const MapProto& message, proto::Source& source) {
  const bool text = message.key_type() == onnx::TensorProto::STRING;
  const std::vector<int64_t> numbers(message.keys().begin(), message.keys().end());
  const std::vector<std::string> strings(message.string_keys().begin(), message.string_keys().end());
  Tensor keys = text ? Tensor::of_strings({message.string_keys_size()}, strings) : Tensor::ints(numbers);
  std::vector<Datum> values = read_sequence(message.values(), source).items();
  if (keys.size() != static_cast<int64_t>(values.size()))
    input_error("a map with as many keys as it has not values", source.path);
  return Datum::map(std::move(keys), std::move(values));
}

Datum read_optional(const OptionalProto& message, proto::Source& source) {
  if (message.has_tensor_value()) return proto::read_tensor(message.tensor_value(), source);
  if (message.has_sequence_value()) return read_sequence(message.sequence_value(), source);
  if (message.has_map_value()) return read_map(message.map_value(), source);
  if (message.has_optional_value()) return read_optional(message.optional_value(), source);
  if (message.has_sparse_tensor_value()) unsupported_error("a sparse tensor", source.path);
  return {};
}

template <class Message>
Message parse(wire::Bytes bytes, const std::string& path) {
  Message message;
  if (bytes.size() > INT32_MAX || !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    input_error("not a stored value of the expected kind", path, "check that the file is complete");
  return message;
}

SequenceProto sequence_message(std::span<const Datum> items, const Type* element);

onnx::TensorProto tensor_message(const Tensor& tensor) {
  onnx::TensorProto message;
  proto::Blobs blobs;
  proto::write_tensor(tensor, message, blobs);
  message.mutable_unknown_fields()->Clear();
  if (!blobs.empty()) message.set_raw_data(blobs[0].raw(), blobs[0].bytes());
  return message;
}

MapProto map_message(const Datum& map, const Type* value) {
  MapProto message;
  const Tensor& keys = map.keys();
  message.set_key_type(static_cast<int32_t>(keys.dtype()));
  if (keys.dtype() == DType::kString) {
    for (const std::string& key : keys.strings()) message.add_string_keys(key);
  } else {
    for (const int64_t key : keys.span<int64_t>()) message.add_keys(key);
  }
  *message.mutable_values() = sequence_message(map.items(), value);
  return message;
}

OptionalProto optional_message(const Datum& value, const Type* element) {
  OptionalProto message;
  switch (value.kind()) {
    case Datum::Kind::kNone:
      message.set_elem_type(OptionalProto::UNDEFINED);
      break;
    case Datum::Kind::kTensor:
      message.set_elem_type(OptionalProto::TENSOR);
      *message.mutable_tensor_value() = tensor_message(value.tensor());
      break;
    case Datum::Kind::kSequence:
      message.set_elem_type(OptionalProto::SEQUENCE);
      *message.mutable_sequence_value() = sequence_message(value.items(), element ? element->element.get() : nullptr);
      break;
    case Datum::Kind::kMap:
      message.set_elem_type(OptionalProto::MAP);
      *message.mutable_map_value() = map_message(value, element ? element->element.get() : nullptr);
      break;
  }
  return message;
}

SequenceProto::DataType element_kind(std::span<const Datum> items, const Type* element) {
  if (element && element->kind == Kind::kOptional) return SequenceProto::OPTIONAL;
  const bool sequence =
      items.empty() ? element && element->kind == Kind::kSequence : items[0].kind() == Datum::Kind::kSequence;
  const bool map = items.empty() ? element && element->kind == Kind::kMap : items[0].kind() == Datum::Kind::kMap;
  return sequence ? SequenceProto::SEQUENCE : map ? SequenceProto::MAP : SequenceProto::TENSOR;
}

SequenceProto sequence_message(std::span<const Datum> items, const Type* element) {
  SequenceProto message;
  const SequenceProto::DataType kind = element_kind(items, element);
  message.set_elem_type(kind);
  const Type* inner = element ? element->element.get() : nullptr;
  for (const Datum& item : items) {
    switch (kind) {
      case SequenceProto::OPTIONAL:
        *message.add_optional_values() = optional_message(item, inner);
        break;
      case SequenceProto::SEQUENCE:
        *message.add_sequence_values() = sequence_message(item.items(), inner);
        break;
      case SequenceProto::MAP:
        *message.add_map_values() = map_message(item, inner);
        break;
      default:
        *message.add_tensor_values() = tensor_message(item.tensor());
    }
  }
  return message;
}

template <class Message>
std::string finish(Message message, const std::string& name) {
  message.set_name(name);
  std::string bytes;
  if (message.ByteSizeLong() > INT32_MAX || !message.SerializeToString(&bytes))
    unsupported_error("a value of more than 2 GB cannot be stored in this form", name);
  return bytes;
}

std::string serialized(const Datum& value, const Type& type, const std::string& name) {
  const Type* element = type.element.get();
  if (type.kind == Kind::kOptional) return finish(optional_message(value, element), name);
  switch (value.kind()) {
    case Datum::Kind::kSequence:
      return finish(sequence_message(value.items(), element), name);
    case Datum::Kind::kMap:
      return finish(map_message(value, element), name);
    default:
      return finish(tensor_message(value.tensor()), name);
  }
}

}  // namespace

Datum read_datum(const std::string& path, const Type& type, std::string* name) {
  const auto file = MappedFile::open(path);
  proto::Source source{path, std::filesystem::path(path).parent_path().string(), file, {}, {}, {}, 0};
  switch (type.kind) {
    case Kind::kSequence:
      return read_sequence(parse<SequenceProto>(file->bytes(), path), source);
    case Kind::kOptional:
      return read_optional(parse<OptionalProto>(file->bytes(), path), source);
    case Kind::kMap: {
      OptionalProto wrapped;  // how some tools store a map
      const auto size = static_cast<int>(std::min<size_t>(file->bytes().size(), INT32_MAX));
      if (wrapped.ParseFromArray(file->bytes().data(), size) && wrapped.has_map_value())
        return read_map(wrapped.map_value(), source);
      return read_map(parse<MapProto>(file->bytes(), path), source);
    }
    default: {
      const wire::Skeleton skeleton = wire::split(file->bytes(), wire::Message::kTensor);
      source.blobs = skeleton.blobs;
      const auto message = parse<onnx::TensorProto>(std::as_bytes(std::span(skeleton.bytes)), path);
      if (name) *name = message.name();
      return proto::read_tensor(message, source);
    }
  }
}

void write_datum(const Datum& value, const Type& type, const std::string& name, const std::string& path) {
  AtomicFile file(path);
  file.write(serialized(value, type, name));
  file.commit();
}

}  // namespace mlopt
