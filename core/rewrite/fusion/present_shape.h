#pragma once
#include <vector>

#include "core/rewrite/pass.h"

namespace mlopt::fusion {

/// The shape of keys or values of the past and of now, which a mask is made of, from the shapes of both parts, so that
/// attention may put them together itself.
std::vector<Rule> present_shape_rules();

}  // namespace mlopt::fusion
