#include "core/onnx/infer.h"

#include <onnx/defs/schema.h>

#include <cctype>
#include <map>
#include <optional>

#include "core/base/text.h"
#include "core/onnx/node.h"

namespace mlopt {
namespace {

using onnx::TensorShapeProto;
using onnx::TypeProto;

/// Gives the types that are known of a body's outputs; the types it would be called with change nothing.
class BodyTypes : public onnx::GraphInferencer {
 public:
  explicit BodyTypes(const Graph& body) {
    for (const Value* output : body.outputs()) types_.push_back(proto::write_type(output->type));
  }
  std::vector<const TypeProto*> doInferencing(const std::vector<const TypeProto*>&,
                                              const std::vector<const onnx::TensorProto*>&) override {
    std::vector<const TypeProto*> found;
    for (const TypeProto& type : types_) found.push_back(&type);
    return found;
  }

 private:
  std::vector<TypeProto> types_;
};

/// The elements of a small integer tensor as far as they are known.
std::optional<TensorShapeProto> symbolic_elements(const Value& value) {
  if (!value.symbolic) return std::nullopt;
  TypeProto type = proto::write_type(Type::tensor(DType::kI64, *value.symbolic));
  return type.tensor_type().shape();
}

/// One node of ours as the standard's inference functions see it.
class Context : public onnx::InferenceContext {
 public:
  explicit Context(const Node& node)
      : node_(node), message_(proto::node_message(node)), outputs_(node.outputs().size()) {
    for (const auto& attribute : message_.attribute()) attributes_[attribute.name()] = &attribute;
    for (const Value* value : node.inputs()) {
      types_.push_back(value ? std::optional(proto::known_type(*value).value_or(TypeProto())) : std::nullopt);
      data_.push_back(value ? proto::small_constant(*value) : std::nullopt);
      symbolic_.push_back(value ? symbolic_elements(*value) : std::nullopt);
    }
    for (const Attr& attr : node.attrs)
      if (const auto* body = std::get_if<GraphPtr>(&attr.value)) bodies_.emplace(attr.name, **body);
  }

  const onnx::AttributeProto* getAttribute(const std::string& name) const override {
    const auto found = attributes_.find(name);
    return found == attributes_.end() ? nullptr : found->second;
  }
  size_t getNumInputs() const override { return types_.size(); }
  /// Some inference functions look into a type without asking whether it is known: unknown ones are empty, not null.
  const TypeProto* getInputType(size_t i) const override { return at(types_, i); }
  bool hasInput(size_t i) const override { return i < node_.inputs().size() && node_.inputs()[i]; }
  const onnx::TensorProto* getInputData(size_t i) const override { return at(data_, i); }
  const onnx::SparseTensorProto* getInputSparseData(size_t) const override { return nullptr; }
  const TensorShapeProto* getSymbolicInput(size_t i) const override { return at(symbolic_, i); }
  size_t getNumOutputs() const override { return outputs_.size(); }
  TypeProto* getOutputType(size_t i) override { return &outputs_.at(i); }
  onnx::GraphInferencer* getGraphAttributeInferencer(const std::string& name) override {
    const auto found = bodies_.find(name);
    return found == bodies_.end() ? nullptr : &found->second;
  }
  std::string getDisplayName() const override { return node_.label(); }
  const onnx::NodeProto& message() const { return message_; }

 private:
  template <class T>
  static const T* at(const std::vector<std::optional<T>>& list, size_t i) {
    return i < list.size() && list[i] ? &*list[i] : nullptr;
  }

  const Node& node_;
  onnx::NodeProto message_;
  std::vector<std::optional<TypeProto>> types_;
  std::vector<std::optional<onnx::TensorProto>> data_;
  std::vector<std::optional<TensorShapeProto>> symbolic_;
  std::vector<TypeProto> outputs_;
  std::map<std::string, const onnx::AttributeProto*> attributes_;
  std::map<std::string, BodyTypes> bodies_;
};

/// The standard's inference never ends on an Einsum whose equation has anything but letters and one ellipsis in a term.
bool has_plain_equation(const Node& node) {
  const Attr* attr = node.is("Einsum") ? node.attr("equation") : nullptr;
  const auto* equation = attr ? std::get_if<std::string>(&attr->value) : nullptr;
  if (!equation) return true;
  std::string inputs = equation->substr(0, equation->find("->"));
  std::erase(inputs, ' ');
  for (std::string term : split(inputs, ',')) {
    if (const size_t ellipsis = term.find("..."); ellipsis != std::string::npos) term.erase(ellipsis, 3);
    for (const char c : term)
      if (!std::isalpha(static_cast<unsigned char>(c))) return false;
  }
  return true;
}

/// It also counts from axes that its operands do not have.
bool has_its_axes(const Node& node) {
  const auto number = [&](const char* name) {
    const Attr* attr = node.attr(name);
    const auto* value = attr ? std::get_if<int64_t>(&attr->value) : nullptr;
    return value ? *value : 0;
  };
  const auto rank = [&](int input) {
    const Value* v = node.input(input);
    return v && v->type.dims ? std::ssize(*v->type.dims) : INT32_MAX;
  };
  const int64_t axis = number("axis"), batch = number("batch_dims"), columns = rank(1);
  if (axis < -rank(0) - 1 || axis > rank(0)) return false;
  if (!node.is("GatherND") || rank(0) == INT32_MAX || columns == INT32_MAX) return true;
  const auto tuple = columns > 0 ? node.input(1)->type.dims->back().value() : std::nullopt;
  return batch >= 0 && batch < columns && batch + tuple.value_or(0) <= rank(0);
}

/// The sizes of what the node reads that are neither numbers nor symbols, by the text that messages have for them.
std::map<std::string, Dim> sums_in(const Node& node) {
  std::map<std::string, Dim> sums;
  for (const Value* v : node.inputs()) {
    if (!v) continue;
    for (const SymDims& dims : {v->type.dims.value_or(SymDims()), v->symbolic.value_or(SymDims())})
      for (const Dim& d : dims)
        if (d.known() && !d.value() && !d.symbol_name()) sums.emplace(d.str(), d);
  }
  return sums;
}

/// What is written as one of them is it again, and not a symbol of that name.
void read_sums(Type& type, const std::map<std::string, Dim>& sums) {
  if (!type.dims) return;
  for (Dim& d : *type.dims)
    if (const auto name = d.symbol_name(); name && sums.contains(*name)) d = sums.at(*name);
}

}  // namespace

std::vector<Type> standard_types(const NodeView& view) {
  const onnx::OpSchema* schema = proto::schema_of(view);
  if (!schema || !has_plain_equation(view.node()) || !has_its_axes(view.node())) return {};
  Context context(view.node());
  try {
    schema->Verify(context.message());
    schema->GetTypeAndShapeInferenceFunction()(context);
  } catch (const std::exception&) {
    return {};  // an ill-formed node has no types; check_with_onnx() says why
  }
  std::vector<Type> types;
  const std::map<std::string, Dim> sums = sums_in(view.node());
  for (size_t i = 0; i < context.getNumOutputs(); ++i) {
    types.push_back(proto::read_type(*context.getOutputType(i)));
    read_sums(types.back(), sums);
  }
  return types;
}

}  // namespace mlopt
