// Dropout whose mask follows from a key for each sample: the numbers of core/base/keep_mask.h.
#include "backends/gpu/device/gradients.h"
#include "core/base/rng.h"

namespace mlopt::gpu {
namespace {

template <class T>
struct Drop {
  DropoutArgs args;
  Divider by_length, by_samples;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t run = by_length.quotient(i), k = i - run * by_length.divisor;
    const uint32_t o = by_samples.quotient(run), sample = run - o * by_samples.divisor;
    const uint64_t key = scrambled(scrambled(static_cast<uint64_t>(args.keys[sample]) + kGolden) + args.node + kGolden);
    const uint64_t position = static_cast<uint64_t>(o) * static_cast<uint64_t>(args.length) + k;
    const bool kept = scrambled(key + (position + 1) * kGolden) >> 11 >= args.dropped;
    static_cast<T*>(args.out)[i] = narrow<T>(kept ? widen(static_cast<const T*>(args.in)[i]) / (1 - args.ratio) : 0.0f);
  }
};

}  // namespace

Status dropout(Queue& queue, const DropoutArgs& args) {
  return by_float(args.type, [&](auto one) {
    return for_each(queue, args.outer * args.samples * args.length,
                    Drop<decltype(one)>{args, Divider(static_cast<uint32_t>(args.length)),
                                        Divider(static_cast<uint32_t>(args.samples))});
  });
}

}  // namespace mlopt::gpu
