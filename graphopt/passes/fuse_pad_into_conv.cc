// Conv(Pad(x, zeros on spatial axes)) -> Conv(x) with larger pads, for each Conv where several read the Pad.
#include <algorithm>

#include "graphopt/passes.h"
#include "graphopt/passes/window_pads.h"

namespace mlopt::graphopt {
namespace {

/// May every reader add the zeros itself, so that nothing needs the Pad?
bool is_for_convs(const Value& padded, const Builder& builder) {
  const auto adds = [&](const Use& use) {
    return use.node->is("Conv") && use.index == 0 && use.node->graph() == padded.graph &&
           has_own_pads(builder.view(*use.node));
  };
  return !padded.is_output() && std::all_of(padded.uses.begin(), padded.uses.end(), adds);
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Value& padded = *m.node("pad")->output(0);
  if (!padded.single_use() && !is_for_convs(padded, builder)) return Decline{"the Pad is read by others too"};
  const auto padding = spatial_padding(builder.view(*m.node("pad")));
  if (!padding) return padding.error();
  if (padding->value != 0) return Decline{"it pads with something else than zero"};
  return with_pads(m.root, *padding, builder);
}

std::vector<Rule> rules() {
  return {{Pattern::op("Conv", {Pattern::op("Pad", {Pattern::any("x")}).as("pad").open(), Pattern::any("w")}).open(),
           rewrite}};
}

}  // namespace

const Pass fuse_pad_into_conv = {"fuse_pad_into_conv", "let Conv add the zeros that a Pad before it adds", rules};

}  // namespace mlopt::graphopt
