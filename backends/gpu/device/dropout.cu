// Dropout whose mask follows from a key for each sample, and random numbers: those of core/base/keep_mask.h.
#include "backends/gpu/device/gradients.h"
#include "core/base/rng.h"

namespace mlopt::gpu {
namespace {

MLOPT_DEVICE uint64_t key_of(int64_t sample, uint64_t node) {
  return scrambled(scrambled(static_cast<uint64_t>(sample) + kGolden) + node + kGolden);
}
MLOPT_DEVICE uint64_t number_at(uint64_t key, uint64_t position) { return scrambled(key + (position + 1) * kGolden); }

template <class T>
struct Drop {
  DropoutArgs args;
  Divider by_length, by_samples;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t run = by_length.quotient(i), k = i - run * by_length.divisor;
    const uint32_t o = by_samples.quotient(run), sample = run - o * by_samples.divisor;
    const uint64_t position = static_cast<uint64_t>(o) * static_cast<uint64_t>(args.length) + k;
    const bool kept = number_at(key_of(args.keys[sample], args.node), position) >> 11 >= args.dropped;
    static_cast<T*>(args.out)[i] = narrow<T>(kept ? widen(static_cast<const T*>(args.in)[i]) / (1 - args.ratio) : 0.0f);
  }
};

template <class T>
struct Seeded {
  SeededArgs args;
  MLOPT_DEVICE float uniform(uint64_t position) const {
    return static_cast<float>(number_at(key_of(*args.key, args.node), position) >> 40) * 0x1.0p-24f;
  }
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint64_t at = i;
    const float value = args.normal
                            ? sqrtf(-2 * logf(1 - uniform(2 * at))) * cosf(6.2831853071795865f * uniform(2 * at + 1))
                            : uniform(at);
    static_cast<T*>(args.out)[i] = narrow<T>(value);
  }
};

}  // namespace

Status seeded(Queue& queue, const SeededArgs& args) {
  return by_float(args.type, [&](auto one) { return for_each(queue, args.count, Seeded<decltype(one)>{args}); });
}

Status dropout(Queue& queue, const DropoutArgs& args) {
  return by_float(args.type, [&](auto one) {
    return for_each(queue, args.outer * args.samples * args.length,
                    Drop<decltype(one)>{args, Divider(args.length), Divider(args.samples)});
  });
}

}  // namespace mlopt::gpu
