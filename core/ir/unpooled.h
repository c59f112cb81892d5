#pragma once
#include "core/base/expected.h"
#include "core/ir/view.h"

namespace mlopt {

/// The dims of the picture that MaxPool with these attributes, which MaxUnpool has too, turned into `pooled`.
Expected<Dims> unpooled(const NodeView& view, const Dims& pooled);

}  // namespace mlopt
