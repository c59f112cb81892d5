#pragma once
#include <optional>
#include <vector>

#include "core/ir/view.h"

namespace mlopt::infer_rules {

/// What holds for `old` as well as `fresh` says, completed by what only `old` knew.
Type merged(const Type& old, Type fresh);

/// Tells the bodies of Loop and Scan what their inputs are; bodies of other operators read only what they capture.
void enter_bodies(const NodeView& view);

/// How often the body of a Scan runs; not known where it has another form.
Dim scan_steps(const NodeView& view);

/// Output types of If, Loop and Scan from those of their bodies' outputs; nothing for other operators.
std::optional<std::vector<Type>> body_types(const NodeView& view);

}  // namespace mlopt::infer_rules
