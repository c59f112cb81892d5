#include "backends/cpu/conv_site.h"

namespace mlopt::cpu {

Expected<ConvSite> float_conv(const Site& site) {
  for (const auto& desc : site.in)
    if (desc && desc->dtype != DType::kF32) return Decline{"not float32"};
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

Expected<ConvSite> channels_last_conv(const Site& site) {
  if (!site.constant(ConvSite::kWeights)) return Decline{"the weights are not constant"};
  auto conv = float_conv(site);
  if (!conv) return conv;
  const TensorDesc &src = site.desc(ConvSite::kSource), dst{DType::kF32, conv->shape.dst, site.layout};
  for (const TensorDesc* desc : {&src, &dst})
    if (desc->layout != mlopt::Layout::kChannelsLast && !desc->is_any_layout()) return Decline{"not channels-last"};
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
