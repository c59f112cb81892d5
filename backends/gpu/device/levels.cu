// Products with weights of 4 bits that look up what they are worth, unpacked in registers.
#include "backends/gpu/device/codes.h"
#include "backends/gpu/device/few_rows.h"

namespace mlopt::gpu {
namespace {

template <class T>
struct Unpack {
  LevelsArgs args;
  Divider by_block;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t code = static_cast<const uint8_t*>(args.codes)[i / 2] >> (i % 2 == 0 ? 4 : 0) & 15u;
    static_cast<T*>(args.out)[i] =
        narrow<T>(args.levels[code] * float_at(args.scale_type, args.scales, by_block.quotient(i)));
  }
};

struct LevelWeights {
  static constexpr int kCodes = 16;
  struct Shared {
    float levels[16];  ///< each in a bank of its own, so that threads look up at once
  };
  LevelsArgs args;
  Divider by_block;

  MLOPT_DEVICE void prepare(Shared& shared, int thread) const {
    if (thread < 16) shared.levels[thread] = args.levels[thread];
  }
  MLOPT_DEVICE int64_t words() const { return args.k / kCodes; }
  MLOPT_DEVICE void unpack(const Shared& shared, int64_t n, int64_t word, float (&numbers)[kCodes]) const {
    const int64_t at = n * words() + word;
    const uint64_t codes = static_cast<const uint64_t*>(args.codes)[at];
    const float scale = float_at(args.scale_type, args.scales, by_block.quotient(static_cast<uint32_t>(at * kCodes)));
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int i = 0; i < kCodes; ++i) numbers[i] = shared.levels[codes >> ((i ^ 1) * 4) & 15u] * scale;
  }
};

}  // namespace

Status levels_product(Queue& queue, const LevelsArgs& args) {
  return by_float(args.type, [&](auto one) {
    return few_rows<decltype(one)>(queue, {args.m, args.n, args.k, args.a, nullptr, args.out},
                                   LevelWeights{args, Divider(args.block)});
  });
}

Status levels_unpack(Queue& queue, const LevelsArgs& args) {
  return by_float(args.type, [&](auto one) {
    return for_each(queue, args.n * args.k, Unpack<decltype(one)>{args, Divider(args.block)});
  });
}

}  // namespace mlopt::gpu
