#pragma once
#include "core/ir/view.h"

namespace mlopt {

/// The keys that queries of attention see by their position: from `left` keys before their own to `right` after it; -1:
/// all there. Less is not valid.
struct KeyWindow {
  int64_t left = -1, right = -1;

  bool is_open() const { return left == -1 && right == -1; }
};
/// That of the standard's Attention, or of com.microsoft's with its attribute `unidirectional`.
KeyWindow key_window(const NodeView& attention);

}  // namespace mlopt
