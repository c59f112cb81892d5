#include "core/onnx/proto.h"

namespace mlopt::proto {
namespace {

/// Names that exporters give to every unknown dimension: equal names do not mean equal sizes.
bool means_unknown(const std::string& name) {
  return name.empty() || name == "?" || name == "None" || name == "-1" || name == "*";
}

DType read_element(int32_t number) {
  return number > 0 && number < kDTypeCount ? static_cast<DType>(number) : DType::kUndefined;
}

template <class Proto>
Type read_dense(const Proto& proto) {
  Type type;
  type.kind = Type::Kind::kTensor;
  type.dtype = read_element(proto.elem_type());
  if (!proto.has_shape()) return type;
  type.dims.emplace();
  for (const auto& dim : proto.shape().dim()) {
    if (dim.has_dim_value() && dim.dim_value() >= 0)
      type.dims->push_back(Dim(dim.dim_value()));
    else if (dim.has_dim_param() && !means_unknown(dim.dim_param()))
      type.dims->push_back(Dim::symbol(dim.dim_param()));
    else
      type.dims->push_back(Dim());
  }
  return type;
}

template <class Proto>
void write_dense(const Type& type, Proto& out) {
  if (type.dtype != DType::kUndefined) out.set_elem_type(static_cast<int32_t>(type.dtype));
  if (!type.dims) return;
  auto* shape = out.mutable_shape();
  for (const Dim& dim : *type.dims) {
    auto* proto = shape->add_dim();
    if (const auto value = dim.value())
      proto->set_dim_value(*value);
    else if (dim.known())
      proto->set_dim_param(dim.str());
  }
}

Type wrap(Type::Kind kind, const onnx::TypeProto& element) {
  Type type;
  type.kind = kind;
  type.element = std::make_shared<const Type>(read_type(element));
  return type;
}

}  // namespace

Type read_type(const onnx::TypeProto& proto) {
  Type type;
  switch (proto.value_case()) {
    case onnx::TypeProto::kTensorType:
      type = read_dense(proto.tensor_type());
      break;
    case onnx::TypeProto::kSparseTensorType:
      type = read_dense(proto.sparse_tensor_type());
      type.kind = Type::Kind::kSparseTensor;
      break;
    case onnx::TypeProto::kSequenceType:
      type = wrap(Type::Kind::kSequence, proto.sequence_type().elem_type());
      break;
    case onnx::TypeProto::kOptionalType:
      type = wrap(Type::Kind::kOptional, proto.optional_type().elem_type());
      break;
    case onnx::TypeProto::kMapType:
      type = wrap(Type::Kind::kMap, proto.map_type().value_type());
      type.dtype = read_element(proto.map_type().key_type());
      break;
    default:
      break;
  }
  type.denotation = proto.denotation();
  return type;
}

onnx::TypeProto write_type(const Type& type) {
  onnx::TypeProto out;
  const auto element = [&] { return type.element ? write_type(*type.element) : onnx::TypeProto(); };
  switch (type.kind) {
    case Type::Kind::kUnknown:
      break;
    case Type::Kind::kTensor:
      write_dense(type, *out.mutable_tensor_type());
      break;
    case Type::Kind::kSparseTensor:
      write_dense(type, *out.mutable_sparse_tensor_type());
      break;
    case Type::Kind::kSequence:
      *out.mutable_sequence_type()->mutable_elem_type() = element();
      break;
    case Type::Kind::kOptional:
      *out.mutable_optional_type()->mutable_elem_type() = element();
      break;
    case Type::Kind::kMap:
      out.mutable_map_type()->set_key_type(static_cast<int32_t>(type.dtype));
      *out.mutable_map_type()->mutable_value_type() = element();
      break;
  }
  if (!type.denotation.empty()) out.set_denotation(type.denotation);
  return out;
}

}  // namespace mlopt::proto
