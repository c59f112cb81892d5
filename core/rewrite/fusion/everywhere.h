#pragma once
#include <optional>

#include "core/rewrite/pass.h"

// Numbers and conditions that are the same in all elements, whatever the sizes.
namespace mlopt::fusion {

/// The number that all elements of a value, of integers or conditions (0 or 1), are: as only_number() knows it, or as
/// arithmetic with such numbers and with values that count makes it.
std::optional<double> number_everywhere(const Value* v, const Builder& builder);

/// Is every element known to be true?
bool always_true(const Value* v, const Builder& builder);
/// The operand of And beside a condition that always holds; null where there is none.
Value* beside_true(const Node& both, const Builder& builder);

}  // namespace mlopt::fusion
