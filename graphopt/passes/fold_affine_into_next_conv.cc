// Conv(x * s + t, w, b) -> Conv(x, w', b') for s and t by channel: w'[m, c] = w[m, c] s[c], b'[m] = b[m] + sum w[m, c]
// t[c]. A convolution that pads pads zeros, not t: it takes factors only.
#include <algorithm>

#include "core/rewrite/fusion/fuse_gelu.h"
#include "core/tensor/cast.h"
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

bool is_zero(double n) { return n == 0; }

bool pads(const NodeView& conv) {
  const std::string how = conv.get_string("auto_pad", "NOTSET");
  const std::vector<int64_t> given = conv.get_ints("pads");
  return how == "VALID" ? false
                        : how != "NOTSET" || std::any_of(given.begin(), given.end(), [](int64_t p) { return p != 0; });
}

/// What the operator before the convolution does to each of its channels.
Expected<ChannelAffine> before(const Match& m, int64_t channels, const Builder& builder) {
  const Node& node = *m.node("affine");
  const Tensor& weight = m.constant("w");
  const auto& dims = m.value("x")->type.dims;
  if (!dims || static_cast<int>(dims->size()) != weight.rank() || !(*dims)[1].is(channels))
    return Decline{"its channels are not known"};
  if (fusion::is_gelu(node)) return Decline{"the factor belongs to GELU, which runtimes find by it"};
  if (node.is("BatchNormalization")) return affine_of(builder.view(node));
  auto numbers = per_channel(m.constant("c"), channels, weight.rank());
  if (!numbers || aligns_axes(node)) return Decline{"its constant is not by channel"};
  const auto count = static_cast<size_t>(channels);
  if (node.is("Sub"))
    for (double& n : *numbers) n = -n;
  if (node.is("Div"))
    for (double& n : *numbers) n = 1 / n;
  if (node.is("Mul") || node.is("Div")) return ChannelAffine{*numbers, std::vector<double>(count, 0)};
  return ChannelAffine{std::vector<double>(count, 1), *numbers};
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Node* conv = m.root;
  const auto layout = ConvWeight::of(*conv, builder);
  if (!layout) return layout.error();
  const Tensor& weight = layout->weight;
  const int64_t by_group = weight.dim(1), in_group = weight.dim(0) / layout->group;
  const auto affine = before(m, by_group * layout->group, builder);
  if (!affine) return affine.error();
  if (static_cast<int64_t>(affine->scale.size()) != by_group * layout->group)
    return Decline{"its channel count differs from the convolution's"};
  if (pads(builder.view(*conv)) && !std::all_of(affine->shift.begin(), affine->shift.end(), is_zero))
    return Decline{"the convolution pads zeros, which nothing is added to"};
  std::vector<double> w = to_doubles(weight), b(static_cast<size_t>(weight.dim(0)), 0);
  if (m.has("b")) b = to_doubles(m.constant("b"));
  const int64_t window = weight.size() / (weight.dim(0) * by_group);
  for (size_t i = 0; i < w.size(); ++i) {
    const int64_t place = static_cast<int64_t>(i) / window, out = place / by_group;
    const auto in = static_cast<size_t>(out / in_group * by_group + place % by_group);
    b[static_cast<size_t>(out)] += w[i] * affine->shift[in];
    w[i] *= affine->scale[in];
  }
  const auto made = convolution_with(*conv, m.value("x"), w, b, builder);
  if (!made) return made.error();
  (*made)->type = conv->output(0)->type;
  (*made)->producer->name = conv->name;
  return Replacement{*made};
}

Rule rule(Pattern affine) {
  return {Pattern::op("Conv", {std::move(affine).as("affine").single_use(), Pattern::constant("w"),
                               Pattern::optional_constant("b")}),
          rewrite};
}

std::vector<Rule> rules() {
  return {rule(Pattern::op("Mul|Add", {Pattern::any("x"), Pattern::constant("c")}).any_order()),
          rule(Pattern::op("Div|Sub", {Pattern::any("x"), Pattern::constant("c")})),
          rule(Pattern::op("BatchNormalization", {Pattern::any("x")}).open())};
}

}  // namespace

const Pass fold_affine_into_next_conv = {
    "fold_affine_into_next_conv", "fold BatchNormalization and constant arithmetic into the Conv behind them", rules};

}  // namespace mlopt::graphopt
