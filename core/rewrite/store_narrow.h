#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/ir/model.h"

namespace mlopt {

/// What is stored in fewer bytes now, and what is not.
struct Narrowed {
  std::vector<const Node*> readers;  ///< of each such weight, in order; a node once for each
  int64_t tensors = 0, saved_bytes = 0;
  std::map<std::string, std::string> left;  ///< initializer -> why it stays
};

/// Float32 initializers of at least `least` elements stored as `type` (float16 or bfloat16) behind a Cast, so that all
/// is computed as before; only those whose readers are all wanted. Numbers beyond the range of float16 stay, and scales
/// of codes.
Narrowed store_narrow(Model& model, DType type, int64_t least, const std::function<bool(const Node&)>& wanted);

}  // namespace mlopt
