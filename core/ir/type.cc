#include "core/ir/type.h"

#include <fmt/core.h>

namespace mlopt {
namespace {

std::string of_element(std::string_view kind, const Type& type) {
  return fmt::format("{}({})", kind, type.element ? to_string(*type.element) : "?");
}

}  // namespace

Type Type::tensor(DType dtype, std::optional<SymDims> dims) {
  Type type;
  type.kind = Kind::kTensor;
  type.dtype = dtype;
  type.dims = std::move(dims);
  return type;
}

Type Type::tensor(DType dtype, const Dims& dims) { return tensor(dtype, SymDims(dims.begin(), dims.end())); }

Type Type::sequence(Type element) {
  Type type;
  type.kind = Kind::kSequence;
  type.element = std::make_shared<const Type>(std::move(element));
  return type;
}

Type Type::optional(Type element) {
  Type type = sequence(std::move(element));
  type.kind = Kind::kOptional;
  return type;
}

std::optional<Dims> Type::static_dims() const {
  if (!dims) return std::nullopt;
  Dims found;
  for (const Dim& dim : *dims) {
    const auto value = dim.value();
    if (!value) return std::nullopt;
    found.push_back(*value);
  }
  return found;
}

std::string to_string(const Type& type) {
  const auto dense = [&] {
    std::string text(type.dtype == DType::kUndefined ? "?" : name(type.dtype));
    text += '[';
    if (!type.dims) return text + "...]";
    for (size_t i = 0; i < type.dims->size(); ++i) text += (i ? "," : "") + (*type.dims)[i].str();
    return text + ']';
  };
  switch (type.kind) {
    case Type::Kind::kUnknown:
      return "?";
    case Type::Kind::kTensor:
      return dense();
    case Type::Kind::kSparseTensor:
      return "sparse " + dense();
    case Type::Kind::kSequence:
      return of_element("sequence", type);
    case Type::Kind::kOptional:
      return of_element("optional", type);
    case Type::Kind::kMap:
      return fmt::format("map({},{})", name(type.dtype), type.element ? to_string(*type.element) : "?");
  }
  return "?";
}

}  // namespace mlopt
