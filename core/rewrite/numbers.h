#pragma once
#include <cmath>
#include <optional>

#include "core/ir/constant.h"
#include "core/tensor/cast.h"

namespace mlopt {

/// The number that a value is constantly; nothing where it is more than one, has more axes, or is no float.
inline std::optional<double> number_in(const Value* v, size_t most_axes = 1) {
  const Tensor* t = v ? v->known_constant() : nullptr;
  if (!t || !is_float(t->dtype()) || t->size() != 1 || t->dims().size() > most_axes) return std::nullopt;
  return number_at(*t, 0);
}

/// The only number of a value of any type but strings, where it is a constant or inference followed it; nothing where
/// it is not known, or `v` is null.
inline std::optional<double> known_number(const Value* v) {
  const std::optional<Tensor> t = v ? constant_or_known(*v) : std::nullopt;
  if (!t || t->size() != 1 || t->dtype() == DType::kString) return std::nullopt;
  return number_at(*t, 0);
}

/// The most axes that an operand may have without adding to those of x.
inline size_t axes_of(const Value& x) { return x.type.dims ? x.type.dims->size() : 0; }

/// Is it this number, but for rounding?
inline bool is_number(const Value* v, double number, size_t most_axes = 1) {
  const auto found = number_in(v, most_axes);
  return found && std::abs(*found - number) <= 1e-5 * std::abs(number);
}

}  // namespace mlopt
