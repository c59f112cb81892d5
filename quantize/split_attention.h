#pragma once
#include "core/rewrite/pass.h"

namespace mlopt::quantize {

/// com.microsoft.Attention -> MatMuls of x by a third of its weights each, and com.microsoft.MultiHeadAttention with
/// its biases: no format says how weights inside of an operator are stored.
extern const Pass split_attention;

}  // namespace mlopt::quantize
