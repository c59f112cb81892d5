#include "core/train/builder.h"

#include <fmt/core.h>

#include "core/base/error.h"
#include "core/tensor/cast.h"

namespace mlopt::train {

Value* Builder::op(std::string_view op, std::vector<Value*> inputs, std::vector<Attr> attrs) {
  return ops(op, std::move(inputs), 1, std::move(attrs))[0];
}

std::vector<Value*> Builder::ops(std::string_view op, std::vector<Value*> inputs, int count, std::vector<Attr> attrs) {
  Node* made = graph().add_op(std::string(op), std::move(inputs), std::move(attrs), nullptr, "train", count);
  infer(*model_, *made, types_);
  return made->outputs();
}

Value* Builder::number(double value, DType type) {
  return graph().add_constant("train/number", cast(Tensor::scalar(value), type));
}

Value* Builder::indices(const std::vector<int64_t>& values) {
  return graph().add_constant("train/indices", Tensor::ints(values));
}

Value* Builder::mean(Value* x) { return op("ReduceMean", {x}, {{"keepdims", int64_t{0}, {}}}); }

Dims Builder::dims(const Value* value) {
  const auto dims = value->type.static_dims();
  if (!dims)
    unsupported_error("cannot train where a shape depends on data", fmt::format("'{}'", value->name),
                      "give the model static shapes");
  return *dims;
}

}  // namespace mlopt::train
