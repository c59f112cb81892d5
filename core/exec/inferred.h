#pragma once
#include <optional>

#include "core/exec/desc.h"
#include "core/ir/graph.h"

namespace mlopt {

/// The value as a dense tensor, row-major, where the graph says its type and shape for sure; strings have no bytes.
inline std::optional<TensorDesc> inferred(const Value& value) {
  const Type& type = value.type;
  if (!type.is_tensor() || type.dtype == DType::kUndefined || type.dtype == DType::kString) return std::nullopt;
  auto dims = type.static_dims();
  if (!dims) return std::nullopt;
  return TensorDesc{type.dtype, std::move(*dims)};
}

}  // namespace mlopt
