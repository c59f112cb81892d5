#pragma once
#include <span>
#include <vector>

#include "core/ir/infer.h"
#include "core/ir/model.h"

namespace mlopt {

/// Reverse-mode differentiation as a rewrite: adds to the end of the model's main graph the nodes that compute
/// d loss / d x for each x of `wrt`, and gives these values, of the type of x each; null where the loss does not depend
/// on x. `loss` has one element; shapes are bound and inferred (bind_input_shapes()). Local functions are inlined
/// before. A node that the backward pass needs another output of (the mask of a dropout) is replaced: its old outputs
/// are gone, but for `loss` and those in `wrt`. Throws Error{kUnsupported} for an operator on the way that has no rule:
/// which, where, and what to freeze.
std::vector<Value*> add_gradients(Model& model, Value* loss, std::span<Value* const> wrt, TypeRule standard = nullptr);

}  // namespace mlopt
