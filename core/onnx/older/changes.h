#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/ir/graph.h"

namespace mlopt::proto {

/// What a version of an operator brought that the one before it lacks.
struct Change {
  std::string_view op;
  int64_t opset;  ///< of ai.onnx, from which on the operator is as it is
  /// Writes a node as the version before has it (by other operators where there was none), and gives the reason where
  /// that cannot be said, else "".
  std::string (*undo)(Node& node);
};

/// Those whose attributes, inputs or meaning differ from those of the version before, above opset kOldestWritten.
std::span<const Change> changes_of_operators();

}  // namespace mlopt::proto
