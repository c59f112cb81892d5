// ConvInteger by constant weights: sums of (x - x_zero)(w - w_zero), exact, in tiles of our own.
#include <fmt/core.h>

#include "backends/cpu/byte_conv.h"
#include "backends/cpu/conv_shape.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/primitive.h"
#include "backends/cpu/quantized.h"
#include "core/base/parallel.h"
#include "core/exec/weight_cache.h"

namespace mlopt::cpu {
namespace {

enum Input { kSource, kWeights, kSourceZero, kWeightZero };

/// The zero point of the source, which DynamicQuantizeLinear gives in each run.
int32_t source_zero(const Buffers& b, bool given, bool is_signed) {
  if (!given) return 0;
  return is_signed ? *b.in<int8_t>(kSourceZero) : *b.in<uint8_t>(kSourceZero);
}

Expected<ByteWeights> weights_of(const Site& site) {
  const Tensor* w = site.constant(kWeights);
  const Tensor* zero = site.has(kWeightZero) ? site.view.constant(kWeightZero) : nullptr;
  if (!w || (site.has(kWeightZero) && !zero)) return Decline{"weights or their zero points are not constant"};
  if (!is_bytes(w->dtype()) || w->rank() < 3 || (zero && zero->dtype() != w->dtype())) return Decline{"not 8 bits"};
  ByteWeights weights = byte_weights(*w, zeros_in(zero));
  const auto zeros = static_cast<int64_t>(weights.zeros.size());
  if (zeros != 1 && zeros != w->dim(0)) return Decline{"zero points do not fit the channels"};
  return weights;
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& source = site.desc(kSource);
  const bool zero_given = site.has(kSourceZero), is_signed = source.dtype == DType::kI8;
  if (!is_bytes(source.dtype)) return Decline{"not 8 bits"};
  if (zero_given && (site.desc(kSourceZero).dtype != source.dtype || site.desc(kSourceZero).size() != 1))
    return Decline{"the source has no single zero point of its type"};
  const auto weights = weights_of(site);
  if (!weights) return weights.error();
  const auto conv = conv_shape(site.view, source.dims, site.desc(kWeights).dims);
  if (!conv) return conv.error();
  const ByteShape shape = ByteShape::conv(*conv);
  if (!ByteConv::fits(shape)) return Decline{"taps lie too far apart"};

  const auto pack = [&] { return std::make_shared<PackedTaps>(shape, weights->numbers, weights->zeros, false); };
  const auto packed =
      shared_weights<PackedTaps>(site.context.weights, *site.constant(kWeights),
                                 taps_form(fmt::format("{} groups", shape.groups), weights->zeros), pack);
  const ByteSource from{is_signed, source.layout == mlopt::Layout::kChannelsLast};
  const auto tiles = std::make_shared<const ByteConv>(shape, from, site.layout == mlopt::Layout::kChannelsLast,
                                                      packed.get(), max_threads());
  PlannedStep step{.out = {{DType::kI32, conv->dst, site.layout}}};
  step.label = "byte tiles";
  step.packed_bytes = packed->bytes();
  step.scratch_bytes = tiles->scratch_bytes();
  step.packed = {kWeights};
  step.run = [=](const Buffers& b) {
    ByteFinish finish{.kind = ByteFinish::Kind::kSums};
    finish.out = b.out<std::byte>(0);
    tiles->run({b.in<std::byte>(kSource), is_signed}, source_zero(b, zero_given, is_signed), packed->view(), finish,
               b.scratch);
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "ConvInteger", .plan = guarded<plan>, .layout = LayoutRule::kChannelsLast},
};

}  // namespace

std::span<const Kernel> conv_integer_kernels() { return kKernels; }

}  // namespace mlopt::cpu
