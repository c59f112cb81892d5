#pragma once
#include "backends/gpu/device/attention.h"
#include "backends/gpu/device/codes.h"

namespace mlopt::gpu {

/// What is added to the score of a query, which is at `at` among the keys, and a key; -infinity: hidden. `end`: the
/// keys of the sample.
MLOPT_DEVICE float attention_bias(const AttentionArgs& args, int64_t b, int64_t h, int64_t query, int64_t key,
                                  int64_t end, int64_t at) {
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  if (key >= end || (args.causal && key > at)) return kHidden;
  if ((args.left >= 0 && key < at - args.left) || (args.right >= 0 && key > at + args.right)) return kHidden;
  if (!args.mask) return 0;
  if (key >= args.mask_width) return kHidden;
  const int64_t* s = args.mask_strides;
  const auto i = static_cast<uint32_t>(b * s[0] + h * s[1] + query * s[2] + key * s[3]);
  if (args.mask_type == Elem::kBool) return static_cast<const bool*>(args.mask)[i] ? 0 : kHidden;
  return float_at(args.mask_type, args.mask, i);
}

}  // namespace mlopt::gpu
