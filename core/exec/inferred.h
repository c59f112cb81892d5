#pragma once
#include <optional>

#include "core/exec/desc.h"
#include "core/ir/constant.h"
#include "core/ir/graph.h"

namespace mlopt {

/// The value as a dense tensor, row-major, where the graph says its type and shape for sure; strings have no bytes.
inline std::optional<TensorDesc> inferred(const Value& value) {
  const Type& type = value.type;
  if (!type.has_dtype() || type.dtype == DType::kString) return std::nullopt;
  auto dims = type.static_dims();
  if (!dims) return std::nullopt;
  return TensorDesc{type.dtype, std::move(*dims)};
}

/// What the graph says of its numbers: known_value(), and all of a tensor without elements.
inline std::optional<Tensor> known_or_empty(const Value& value) {
  if (const auto desc = inferred(value); desc && desc->size() == 0) return Tensor(desc->dtype, desc->dims);
  return known_value(value);
}

}  // namespace mlopt
