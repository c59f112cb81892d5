// auto_pad of convolutions and pools over known sizes -> pads.
#include <algorithm>

#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

std::vector<int64_t> or_ones(std::vector<int64_t> numbers, size_t count) {
  if (numbers.empty()) numbers.assign(count, 1);
  return numbers;
}

/// The window's sizes: the attribute, or the spatial axes of the weight.
std::vector<int64_t> window_of(const NodeView& view) {
  std::vector<int64_t> window = view.get_ints("kernel_shape");
  const Value* weight = view.node().is("Conv") ? view.node().input(1) : nullptr;
  const auto dims = weight ? weight->type.static_dims() : std::nullopt;
  if (window.empty() && dims && dims->size() > 2) window.assign(dims->begin() + 2, dims->end());
  return window;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const NodeView view = builder.view(*m.root);
  const std::string how = view.get_string("auto_pad", "NOTSET");
  if (how != "SAME_UPPER" && how != "SAME_LOWER" && how != "VALID") return Decline{};
  if (m.root->outputs().size() != 1) return Decline{"its indices are used"};
  if (how == "VALID" && view.get_int("ceil_mode", 0) != 0) return Decline{"runtimes differ in how they round its size"};
  const auto& dims = m.value("x")->type.dims;
  const std::vector<int64_t> window = window_of(view);
  if (!dims || window.empty() || dims->size() != window.size() + 2) return Decline{"its window is not known"};
  const size_t axes = window.size();
  const std::vector<int64_t> strides = or_ones(view.get_ints("strides"), axes),
                             dilations = or_ones(view.get_ints("dilations"), axes);
  if (strides.size() != axes || dilations.size() != axes) return Decline{"its window is not valid"};
  if (!m.root->is("Conv") && std::any_of(dilations.begin(), dilations.end(), [](int64_t d) { return d != 1; }))
    return Decline{"runtimes differ in the size of a dilated pool"};
  std::vector<int64_t> pads(2 * axes, 0);
  for (size_t i = 0; i < axes && how != "VALID"; ++i) {
    const auto size = (*dims)[i + 2].value();
    if (!size || strides[i] < 1) return Decline{"its pads depend on a free dimension"};
    const int64_t results = (*size + strides[i] - 1) / strides[i];
    const int64_t total = std::max<int64_t>(0, (results - 1) * strides[i] + (window[i] - 1) * dilations[i] + 1 - *size);
    pads[i] = how == "SAME_UPPER" ? total / 2 : total - total / 2;
    pads[i + axes] = total - pads[i];
  }
  Value* y = builder.op(m.root->op, m.root->inputs(), m.root->attrs, m.root->output(0)->type);
  y->producer->remove_attr("auto_pad");
  y->producer->set_attr("pads", pads);
  return Replacement{y};
}

std::vector<Rule> rules() { return {{Pattern::op("Conv|MaxPool|AveragePool", {Pattern::any("x")}).open(), rewrite}}; }

}  // namespace

const Pass explicit_auto_pad = {"explicit_auto_pad", "write the pads that convolutions and pools compute themselves",
                                rules};

}  // namespace mlopt::graphopt
