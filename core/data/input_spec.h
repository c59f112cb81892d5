#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/tensor/dim.h"
#include "core/tensor/dtype.h"
#include "core/tensor/value_range.h"

namespace mlopt {

/// What data must provide for one input of a model.
struct InputSpec {
  std::string name;
  DType dtype = DType::kF32;
  SymDims dims;
  bool tensor = true;               ///< false: a sequence, an optional or a tensor of unknown rank
  std::optional<ValueRange> range;  ///< where the graph, the type or the name tells; nothing: any number will do
};

/// "'x' float32[N,3], 'mask' int64[N]", for messages.
std::string to_string(const std::vector<InputSpec>& inputs);

}  // namespace mlopt
