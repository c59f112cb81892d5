#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/ir/infer.h"
#include "core/ir/model.h"

namespace mlopt {

/// An axis of an input that becomes free, under a name that axes may share.
struct FreeAxis {
  std::string input;
  int64_t axis = 0;  ///< below 0: from the back
  std::string name;
};

/// Frees the axes, and writes constant targets of Reshape so that they follow: an axis that keeps its place is copied,
/// else the entry that it became, alone or with others, is left to be inferred. Whether the model then runs at other
/// sizes is to be tried. Types must be inferred. Throws Error{kUsage} for an input or axis that there is not, or that
/// is free already, and Error{kUnsupported} where the entry cannot be told.
void free_axes(Model& model, const std::vector<FreeAxis>& axes, TypeRule standard = nullptr);

}  // namespace mlopt
