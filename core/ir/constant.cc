#include "core/ir/constant.h"

#include <algorithm>
#include <string_view>

#include "core/tensor/cast.h"

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

std::optional<Tensor> known_value(const Value& y) {
  const auto dims = y.type.static_dims();
  if (!y.symbolic || !dims || y.constant) return std::nullopt;
  std::vector<int64_t> numbers;
  for (const Dim& d : *y.symbolic) {
    if (!d.value()) return std::nullopt;
    numbers.push_back(*d.value());
  }
  if (element_count(*dims) != static_cast<int64_t>(numbers.size())) return std::nullopt;
  if (y.type.dtype == DType::kI64) return Tensor::of<int64_t>(*dims, numbers);
  if (y.type.dtype == DType::kBool) return cast(Tensor::of<int64_t>(*dims, numbers), DType::kBool);
  if (y.type.dtype != DType::kI32) return std::nullopt;
  return Tensor::of<int32_t>(*dims, std::vector<int32_t>(numbers.begin(), numbers.end()));
}

std::optional<Tensor> constant_or_known(const Value& value) {
  return value.known_constant() ? *value.known_constant() : known_value(value);
}

const Value* before_identities(const Value* value) {
  while (value->producer && value->producer->is("Identity") && value->producer->input(0))
    value = value->producer->input(0);
  return value;
}

Tensor number_for(const Value& parameter, const Tensor& scalar) {
  const auto& dims = parameter.type.dims;
  return dims && dims->size() == 1 ? scalar.reshaped({1}) : scalar;
}

bool is_random(const Node& node) {
  static constexpr std::string_view kRandom[] = {
      "RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial", "Bernoulli", "Dropout"};
  return std::find(std::begin(kRandom), std::end(kRandom), std::string_view(node.op)) != std::end(kRandom);
}

}  // namespace mlopt
