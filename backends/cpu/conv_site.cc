#include "backends/cpu/conv_site.h"

namespace mlopt::cpu {

Expected<ConvSite> float_conv(const Site& site, bool halves) {
  for (const auto& desc : site.in)
    if (desc && desc->dtype != DType::kF32 && !(halves && desc->dtype == DType::kBF16)) return Decline{"not float32"};
  const auto act = fused_activation(site.view);
  if (!act) return act.error();
  auto shape = conv_shape(site.view, site.desc(ConvSite::kSource).dims, site.desc(ConvSite::kWeights).dims);
  if (!shape) return shape.error();
  ConvSite conv{*std::move(shape), *act, site.has(ConvSite::kBias), site.has(ConvSite::kAddend)};
  if (conv.bias && site.desc(ConvSite::kBias).dims != Dims{conv.shape.channels_out()})
    return Decline{"bias does not fit"};
  if (conv.addend && site.desc(ConvSite::kAddend).dims != conv.shape.dst) return Decline{"addend does not fit"};
  return conv;
}

Expected<ConvSite> constant_conv(const Site& site) {
  if (!site.constant(ConvSite::kWeights)) return Decline{"the weights are not constant"};
  return float_conv(site);
}

bool is_channels_last(const Site& site, const ConvSite& conv) {
  const TensorDesc &src = site.desc(ConvSite::kSource), dst{DType::kF32, conv.shape.dst, site.layout};
  const auto fits = [](const TensorDesc& d) { return d.layout == mlopt::Layout::kChannelsLast || d.is_any_layout(); };
  return fits(src) && fits(dst);
}

Expected<ConvSite> channels_last_conv(const Site& site) {
  auto conv = constant_conv(site);
  if (conv && !is_channels_last(site, *conv)) return Decline{"not channels-last"};
  return conv;
}

PlannedStep channels_last_step(const Site& site, const ConvSite& conv) {
  PlannedStep step{.out = {{DType::kF32, conv.shape.dst, mlopt::Layout::kChannelsLast}}};
  step.packed = {ConvSite::kWeights};
  if (conv.addend) step.in_place = ConvSite::kAddend;
  step.in = {mlopt::Layout::kChannelsLast, mlopt::Layout::kRowMajor, mlopt::Layout::kRowMajor,
             mlopt::Layout::kChannelsLast};
  step.in.resize(site.in.size());
  return step;
}

}  // namespace mlopt::cpu
