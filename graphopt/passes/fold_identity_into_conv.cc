// Conv(x, w) + x -> Conv(x, w + identity), and the same for BatchNormalization(x), in float32 and wider: the branches
// of a block that is trained with several (RepVGG, Ding et al. 2021). Sub likewise. Kernels that hold an identity lose
// more when they are quantized, so that `quantize` leaves both apart.
#include "graphopt/passes.h"
#include "graphopt/passes/conv_taps.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

/// What the other operand makes of each channel of x; a Decline without a reason where it is something else.
Expected<ChannelAffine> made_of(Value* x, Value* other, size_t channels, const Builder& builder) {
  if (other == x) return ChannelAffine{std::vector<double>(channels, 1), std::vector<double>(channels, 0)};
  const Node* norm = producer_of(other, "BatchNormalization");
  if (!norm || norm->input(0) != x || !other->single_use()) return Decline{};
  return affine_of(builder.view(*norm));
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node& conv = *m.node("conv");
  Value* x = conv.input(0);
  const int at = m.root->input(0) == conv.output(0) ? 0 : 1;
  const auto channels = static_cast<size_t>(m.constant("w").rank() > 0 ? m.constant("w").dim(0) : 0);
  const auto affine = made_of(x, m.root->input(1 - at), channels, builder);
  if (!affine) return affine.error();
  if (aligns_axes(*m.root)) return Decline{"it aligns axes"};
  if (bits(m.constant("w").dtype()) < 32) return Decline{"its numbers are too narrow to hold both"};
  auto taps = ConvTaps::of(conv, builder);
  if (!taps) return taps.error();
  auto beside = taps->of_channels(affine->scale, affine->shift);
  if (!beside) return Decline{"the convolution does not give a value of its input's shape"};
  if (m.root->is("Sub")) (at == 0 ? *beside : *taps).scale(-1);
  if (!taps->add(*beside)) return Decline{"the kernel has no tap in its middle"};
  return taps->written(builder);
}

std::vector<Rule> rules() {
  // Sums are taken in turn, whichever branches they are of.
  return {sum_of_convs(),
          {Pattern::op("Add", {constant_convolution("Conv"), Pattern::any("other")}).any_order(), rewrite},
          {Pattern::op("Sub", {constant_convolution("Conv"), Pattern::any("other")}), rewrite},
          {Pattern::op("Sub", {Pattern::any("other"), constant_convolution("Conv")}), rewrite}};
}

}  // namespace

const Pass fold_identity_into_conv = {"fold_identity_into_conv",
                                      "let a Conv add its own input, normalized or as it is, by its kernel", rules};

}  // namespace mlopt::graphopt
