// A value's ValueInfoProto and TensorProto, and what of them the IR does not hold.
#include "core/onnx/proto.h"

namespace mlopt::proto {
namespace {

/// Where the residue of an initializer's tensor lies in the residue of its value. Never in a file.
constexpr int kTensorField = 536870901;

onnx::ValueInfoProto residue_of(const Value& value, std::string* tensor = nullptr) {
  onnx::ValueInfoProto residue;
  residue.ParseFromString(value.unknown_fields);
  auto* fields = residue.mutable_unknown_fields();
  for (int i = 0; tensor && i < fields->field_count(); ++i)
    if (fields->field(i).number() == kTensorField) *tensor = fields->field(i).length_delimited();
  fields->DeleteByNumber(kTensorField);
  return residue;
}

/// The IR holds the constant as a dense tensor; the file goes on calling it sparse.
bool is_sparse_constant(const Value& value, const onnx::TypeProto& type) {
  return value.constant && type.has_sparse_tensor_type();
}

}  // namespace

bool same(const onnx::TypeProto& a, const onnx::TypeProto& b) { return a.SerializeAsString() == b.SerializeAsString(); }

void strip(onnx::TensorProto& tensor) {
  tensor.clear_dims();
  tensor.clear_data_type();
  tensor.clear_float_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_double_data();
  tensor.clear_uint64_data();
  tensor.clear_string_data();
  tensor.clear_raw_data();
  tensor.clear_external_data();
  tensor.clear_data_location();
  tensor.mutable_unknown_fields()->DeleteByNumber(wire::kBlobField);
}

void read_value_info(onnx::ValueInfoProto& message, Value& value) {
  message.mutable_unknown_fields()->DeleteByNumber(kTensorField);
  std::string tensor;
  residue_of(value, &tensor);
  if (!value.constant) value.type = read_type(message.type());
  value.declared = true;
  if (message.has_type() && message.type().value_case() && !is_sparse_constant(value, message.type()) &&
      same(write_type(read_type(message.type())), message.type()))
    message.clear_type();
  value.doc = take(message, &onnx::ValueInfoProto::doc_string, &onnx::ValueInfoProto::clear_doc_string);
  value.metadata = take_metadata(message.mutable_metadata_props());
  message.clear_name();
  if (!tensor.empty()) message.mutable_unknown_fields()->AddLengthDelimited(kTensorField, tensor);
  value.unknown_fields = message.SerializeAsString();
}

void write_value_info(const Value& value, onnx::ValueInfoProto& out) {
  out = residue_of(value);
  out.set_name(value.name);
  // A type that the IR cannot express fully is kept while nothing has changed what the IR knows of it.
  if (!out.has_type() ||
      (!is_sparse_constant(value, out.type()) && !same(write_type(read_type(out.type())), write_type(value.type)))) {
    out.clear_type();
    if (value.type.kind != Type::Kind::kUnknown) *out.mutable_type() = write_type(value.type);
  }
  if (!value.doc.empty()) out.set_doc_string(value.doc);
  put_metadata(value.metadata, out.mutable_metadata_props());
}

void keep_residue(onnx::TensorProto& tensor, Value& value) {
  strip(tensor);
  tensor.clear_name();
  const std::string bytes = tensor.SerializeAsString();
  if (bytes.empty()) return;
  onnx::ValueInfoProto residue = residue_of(value);
  residue.mutable_unknown_fields()->AddLengthDelimited(kTensorField, bytes);
  value.unknown_fields = residue.SerializeAsString();
}

void write_initializer(const Value& value, onnx::TensorProto& out, Blobs& blobs) {
  std::string tensor;
  residue_of(value, &tensor);
  out.ParseFromString(tensor);
  out.set_name(value.name);
  write_tensor(*value.constant, out, blobs);
}

}  // namespace mlopt::proto
