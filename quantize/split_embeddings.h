#pragma once
#include "core/rewrite/pass.h"

namespace mlopt::quantize {

/// com.microsoft.EmbedLayerNormalization -> Gathers, their sum and LayerNormalization: no format says how tables inside
/// of an operator are stored.
extern const Pass split_embeddings;

}  // namespace mlopt::quantize
