#pragma once
#include "core/rewrite/pass.h"

namespace mlopt::lower {

/// mlopt.SeededUniform or SeededNormal (`op`) of the shape and type of `like`, in the place of `node`, from whose seed
/// or, where it has none, name its numbers follow.
Value* draw(Builder& builder, const Node& node, const char* op, Value* like);

}  // namespace mlopt::lower
