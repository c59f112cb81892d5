#pragma once
#include "core/rewrite/pass.h"

namespace mlopt {

/// x (1 + erf(x / sqrt 2)) / 2, and its approximation x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, however they
/// are spelt -> Gelu(x), whatever the model's opset. For graphs that are run, not for those that are written.
extern const Pass fuse_gelu;

}  // namespace mlopt
