#include "graphopt/passes/window_pads.h"

namespace mlopt::graphopt {

Expected<SpatialPadding> spatial_padding(const NodeView& pad) {
  if (pad.get_string("mode", "constant") != "constant") return Decline{"it does not pad with a constant"};
  const auto pads = pad.ints(pad.opset() < 2 ? "paddings" : "pads", 1);
  const auto value = pad.number("value", 2, 0.0);
  const auto axes = pad.ints("axes", 3);
  const auto& dims = pad.node().input(0)->type.dims;
  if (!pads || !value || !axes) return Decline{"its padding is not constant"};
  const size_t rank = axes->empty() ? pads->size() / 2 : dims ? dims->size() : 0;
  if (rank < 3 || pads->size() != 2 * (axes->empty() ? rank : axes->size())) return Decline{"it has no spatial axes"};
  std::vector<int64_t> all(2 * rank, 0);
  for (size_t i = 0; i < pads->size() / 2; ++i) {
    int64_t axis = axes->empty() ? static_cast<int64_t>(i) : (*axes)[i];
    if (axis < 0) axis += static_cast<int64_t>(rank);
    if (axis < 0 || axis >= static_cast<int64_t>(rank)) return Decline{"its axes are not valid"};
    all[static_cast<size_t>(axis)] = (*pads)[i];
    all[rank + static_cast<size_t>(axis)] = (*pads)[i + pads->size() / 2];
  }
  SpatialPadding found{{}, *value};
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] < 0) return Decline{"it removes elements"};
    if (i % rank >= 2)
      found.pads.push_back(all[i]);
    else if (all[i] != 0)
      return Decline{"it pads the batch or the channels"};
  }
  return found;
}

bool has_own_pads(const NodeView& window) {
  const std::string auto_pad = window.get_string("auto_pad", "NOTSET");
  return auto_pad == "NOTSET" || auto_pad == "VALID";
}

Expected<Replacement> with_pads(Node* window, const SpatialPadding& padding, Builder& builder) {
  if (!has_own_pads(builder.view(*window))) return Decline{"the window computes its pads itself"};
  const bool valid = builder.view(*window).get_string("auto_pad", "NOTSET") == "VALID";
  std::vector<int64_t> pads = valid ? std::vector<int64_t>{} : builder.view(*window).get_ints("pads");
  pads.resize(padding.pads.size(), 0);
  for (size_t i = 0; i < pads.size(); ++i) pads[i] += padding.pads[i];
  std::vector<Value*> inputs = window->inputs();
  inputs[0] = inputs[0]->producer->input(0);
  Value* made = builder.op(window->op, std::move(inputs), window->attrs);
  made->producer->set_attr("pads", pads);
  made->producer->remove_attr("auto_pad");
  made->producer->name = window->name;
  return Replacement{made};
}

}  // namespace mlopt::graphopt
