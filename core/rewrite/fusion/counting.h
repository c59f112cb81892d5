#pragma once
#include <optional>

#include "core/ir/graph.h"
#include "core/rewrite/pass.h"

// What index arithmetic is known to hold, whatever the sizes.
namespace mlopt::fusion {

/// Of a constant: larger ones are not looked at.
inline constexpr int64_t kMostNumbers = 1 << 20;

/// The axis along which a value goes up by 1 with each element, and its first element; it is the same along others.
struct Count {
  size_t axis = 0;
  Dim from;
};

std::optional<Count> count_of(const Value* v, const Builder& builder);
/// The same of numbers; nothing where there is one alone.
std::optional<Count> count_in(const Tensor& numbers);

/// The axis along which the value is 0, 1, 2, ..., where all other axes have length 1.
std::optional<size_t> counts_along(const Value* v, const Builder& builder);

/// Does the operator neither make nor change elements of input 0?
bool keeps_elements(const Node& node);

/// The elements of a list of integers, as far as the shapes of inputs say what they are.
std::optional<SymDims> dims_in(const Value* v);
/// The only one of them.
std::optional<Dim> dim_in(const Value* v);

/// The one number that all elements are.
std::optional<double> only_number(const Value* v);
std::optional<double> only_number(const Tensor& numbers);

/// Is every element known to be true (of a bool)?
bool always_true(const Value* v);
/// The operand of And beside a condition that always holds; null where there is none.
Value* beside_true(const Node& both);

}  // namespace mlopt::fusion
