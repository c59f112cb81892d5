// Conv(Pad(x, zeros on spatial axes)) -> Conv(x) with larger pads.
#include "core/tensor/cast.h"
#include "graphopt/passes.h"
#include "graphopt/passes/window_pads.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const auto padding = spatial_padding(builder.view(*m.node("pad")));
  if (!padding) return padding.error();
  if (padding->value != 0) return Decline{"it pads with something else than zero"};
  return with_pads(m.root, *padding, builder);
}

std::vector<Rule> rules() {
  return {
      {Pattern::op("Conv", {Pattern::op("Pad", {Pattern::any("x")}).as("pad").open().single_use(), Pattern::any("w")})
           .open(),
       rewrite}};
}

}  // namespace

const Pass fuse_pad_into_conv = {"fuse_pad_into_conv", "let Conv add the zeros that a Pad before it adds", rules};

}  // namespace mlopt::graphopt
