#pragma once
#include "core/rewrite/pass.h"

namespace mlopt {

/// The branch of an If whose condition is known, by a constant or by shapes, in its place.
extern const Pass inline_if;

}  // namespace mlopt
