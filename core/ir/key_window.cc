#include "core/ir/key_window.h"

namespace mlopt {

KeyWindow key_window(const NodeView& attention) {
  KeyWindow window{attention.get_int("left_window_size", -1), attention.get_int("right_window_size", -1)};
  const bool causal = attention.get_int("is_causal", 0) != 0 || attention.get_int("unidirectional", 0) != 0;
  if (causal && window.right >= -1) window.right = 0;
  return window;
}

}  // namespace mlopt
