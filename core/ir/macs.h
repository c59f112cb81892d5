#pragma once
#include <cstdint>
#include <optional>

#include "core/ir/model.h"
#include "core/ir/view.h"

namespace mlopt {

/// Multiply-accumulate operations of one run of a node: of convolutions, matrix products, recurrent layers and
/// attention; 0 for other operators, nothing when the shapes that decide are not plain integers.
std::optional<int64_t> macs(const NodeView& view);

struct MacTotal {
  int64_t macs = 0;
  int64_t unknown_nodes = 0;  ///< nodes left out because their shapes are not known
};
/// Of the whole model as its types say; the body of a Loop or Scan counts as often as it runs, where that is known, any
/// other once.
MacTotal total_macs(const Model& model);

}  // namespace mlopt
