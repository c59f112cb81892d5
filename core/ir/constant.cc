#include "core/ir/constant.h"

namespace mlopt {

std::optional<Tensor> constant_value(const Node& node) {
  if (!node.is("Constant") || node.attrs.size() != 1) return std::nullopt;
  const auto& [name, value, doc, unknown_fields] = node.attrs[0];
  const auto length = [](const auto& list) { return Dims{static_cast<int64_t>(list.size())}; };
  if (const auto* t = std::get_if<Tensor>(&value); t && name == "value") return *t;
  if (const auto* f = std::get_if<float>(&value); f && name == "value_float") return Tensor::scalar(*f);
  if (const auto* i = std::get_if<int64_t>(&value); i && name == "value_int") return Tensor::scalar(*i);
  if (const auto* s = std::get_if<std::string>(&value); s && name == "value_string")
    return Tensor::of_strings({}, {*s});
  if (const auto* v = std::get_if<std::vector<float>>(&value); v && name == "value_floats")
    return Tensor::of(length(*v), *v);
  if (const auto* v = std::get_if<std::vector<int64_t>>(&value); v && name == "value_ints")
    return Tensor::of(length(*v), *v);
  if (const auto* v = std::get_if<std::vector<std::string>>(&value); v && name == "value_strings")
    return Tensor::of_strings(length(*v), *v);
  return std::nullopt;
}

void note_constant(Node& node) {
  std::optional<Tensor> constant = constant_value(node);
  if (!constant || node.outputs().size() != 1 || !node.output(0)) return;
  node.output(0)->type = Type::tensor(constant->dtype(), constant->dims());
  node.output(0)->constant = std::move(constant);
}

}  // namespace mlopt
