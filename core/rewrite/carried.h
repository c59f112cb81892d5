#pragma once
#include "core/ir/view.h"

namespace mlopt {

/// Where the values that a Loop or Scan carries from one iteration to the next begin, and how many there are.
struct Carried {
  int input = 0;   ///< of the node and of the body
  int result = 0;  ///< of the body; the node's first outputs are these
  int count = 0;

  Value* parameter(const Graph& body, int k) const;
  Value* made(const Graph& body, int k) const;
};

/// Nothing carried where the node is something else, has no body, or one that does not fit it.
Carried carried_by(const NodeView& view);

/// Carried value k is no more: `inside` takes the place of what the body is given, `outside` that of the last one,
/// which may be null where nothing reads it. Its result in the body must be nothing else's.
void drop_carried(Node* node, const Carried& carried, int k, Value* inside, Value* outside);

}  // namespace mlopt
