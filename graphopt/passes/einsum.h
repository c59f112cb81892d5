#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/base/expected.h"
#include "core/ir/view.h"

namespace mlopt::graphopt {

/// What an Einsum does, with one letter for each axis, none twice in a term or in the result.
struct Equation {
  std::vector<std::string> terms;  ///< of the operands
  std::string result;

  /// With letters of their own for the axes of an ellipsis, and the result that is meant where none is given. Nothing
  /// for diagonals, for a letter of the result that no term has, and where a rank is not known or another one.
  static std::optional<Equation> of(const NodeView& einsum);
};

/// What the axes of a product of two terms are to it.
struct ProductAxes {
  std::string batch, left, right;  ///< of both, of the first, of the second operand alone, in the result's order
  std::string summed;              ///< of both, in the order of the first operand's term

  /// Declines where an axis of one operand alone is summed.
  static Expected<ProductAxes> of(const std::string& a, const std::string& b, const std::string& result);
};

}  // namespace mlopt::graphopt
