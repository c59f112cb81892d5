// AveragePool(Pad(x, zeros)) -> AveragePool(x) that counts its pads, MaxPool(Pad(x, -infinity)) -> MaxPool(x).
// MaxPool pads with -infinity, so that zeros before it are the same only where no element is negative.
#include <cmath>

#include "graphopt/passes.h"
#include "graphopt/passes/limits.h"
#include "graphopt/passes/window_pads.h"

namespace mlopt::graphopt {
namespace {

/// Why MaxPool cannot add these pads.
std::optional<Decline> max_pool_objection(const Match& m, const SpatialPadding& padding, const Builder& builder) {
  if (m.root->outputs().size() > 1) return Decline{"its indices are used"};
  for (const int64_t d : builder.view(*m.root).get_ints("dilations"))
    if (d != 1) return Decline{"a dilated window may see pads only"};
  if (std::isinf(padding.value) && padding.value < 0) return std::nullopt;
  if (padding.value != 0) return Decline{"it pads with something else than -infinity"};
  if (!never_negative(*m.value("x"), builder)) return Decline{"it pads with zeros what may be negative"};
  return std::nullopt;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const NodeView pool = builder.view(*m.root);
  const auto padding = spatial_padding(builder.view(*m.node("pad")));
  if (!padding) return padding.error();
  if (pool.get_int("ceil_mode", 0)) return Decline{"it rounds its output size up"};
  const std::vector<int64_t> kernel = pool.get_ints("kernel_shape");
  std::vector<int64_t> own = pool.get_ints("pads");
  own.resize(padding->pads.size(), 0);
  for (size_t i = 0; i < own.size(); ++i)
    if (kernel.empty() || padding->pads[i] + own[i] >= kernel[i % kernel.size()])
      return Decline{"its pads are as large as its window"};
  if (m.root->op == "MaxPool") {
    if (const auto no = max_pool_objection(m, *padding, builder)) return *no;
    return with_pads(m.root, *padding, builder);
  }
  if (padding->value != 0) return Decline{"it pads with something else than zero"};
  if (pool.opset() < 7) return Decline{"its opset cannot count pads"};
  for (const int64_t p : pool.get_ints("pads"))
    if (p != 0) return Decline{"it has pads of its own"};
  Expected<Replacement> made = with_pads(m.root, *padding, builder);
  if (made) (*made)[0]->producer->set_attr("count_include_pad", int64_t{1});
  return made;
}

std::vector<Rule> rules() {
  return {{Pattern::op("AveragePool|MaxPool", {Pattern::op("Pad", {Pattern::any("x")}).as("pad").open().single_use()}),
           rewrite}};
}

}  // namespace

const Pass fuse_pad_into_pool = {"fuse_pad_into_pool", "let pools add what a Pad before them adds", rules};

}  // namespace mlopt::graphopt
