// Products with weights of 2, 4 and 8 bits, unpacked in registers.
#include <type_traits>

#include "backends/gpu/device/codes.h"
#include "backends/gpu/device/few_rows.h"

namespace mlopt::gpu {
namespace {

/// Where the scale and the zero point of a block are.
struct Blocks {
  NBitsArgs args;
  Divider by_block;
  int64_t blocks;      ///< of a row
  int64_t zero_bytes;  ///< of a row

  explicit Blocks(const NBitsArgs& a)
      : args(a), by_block(a.block), blocks((a.k + a.block - 1) / a.block), zero_bytes((blocks * a.bits + 7) / 8) {}

  MLOPT_DEVICE float scale(int64_t row, uint32_t block) const {
    return float_at(args.type, args.scales, static_cast<uint32_t>(row * blocks + block));
  }
  MLOPT_DEVICE float zero(int64_t row, uint32_t block) const {
    if (!args.zeros) return static_cast<float>(1 << (args.bits - 1));
    if (!args.packed_zeros) return float_at(args.zero_type, args.zeros, static_cast<uint32_t>(row * blocks + block));
    return static_cast<float>(
        code_at({args.bits, false}, static_cast<const uint8_t*>(args.zeros) + row * zero_bytes, block));
  }
};

template <class T>
struct Unpack {
  Blocks blocks;
  Divider by_k;
  MLOPT_DEVICE void operator()(uint32_t i) const {
    const uint32_t row = by_k.quotient(i), k = i - row * by_k.divisor, block = blocks.by_block.quotient(k);
    const int64_t row_codes = blocks.blocks * blocks.args.block;
    const int64_t code =
        code_at({blocks.args.bits, false}, blocks.args.codes, static_cast<uint32_t>(row * row_codes + k));
    static_cast<T*>(blocks.args.out)[i] =
        narrow<T>((static_cast<float>(code) - blocks.zero(row, block)) * blocks.scale(row, block));
  }
};

MLOPT_DEVICE float unit_of(Float8 type) { return type.exponent == 4 ? 0x1p-8f : 0x1p-15f; }

/// Words of codes of a few bits, or of floats of 8 bits.
template <int kBits, bool kFloat>
struct BlockWeights {
  using Word = std::conditional_t<kBits == 2, uint32_t, uint64_t>;  // no more codes than the smallest block has
  static constexpr int kCodes = static_cast<int>(8 * sizeof(Word)) / kBits;
  struct Shared {};
  Blocks blocks;

  MLOPT_DEVICE void prepare(Shared&, int) const {}
  MLOPT_DEVICE int64_t words() const { return blocks.blocks * blocks.args.block / kCodes; }
  MLOPT_DEVICE void unpack(const Shared&, int64_t n, int64_t word, float (&numbers)[kCodes]) const {
    const NBitsArgs& args = blocks.args;
    const uint32_t block = blocks.by_block.quotient(static_cast<uint32_t>(word * kCodes));
    const Word codes = static_cast<const Word*>(args.codes)[n * words() + word];
    const float scale = blocks.scale(n, block) * (kFloat ? unit_of(args.float8) : 1);
    const float zero = kFloat ? 0 : blocks.zero(n, block);
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int i = 0; i < kCodes; ++i) {
      const uint32_t code = static_cast<uint32_t>(codes >> (i * kBits)) & ((1u << kBits) - 1);
      const float number = kFloat ? args.float8.widen(static_cast<uint8_t>(code)) : static_cast<float>(code) - zero;
      numbers[i] = number * scale;
    }
  }
};

template <class T, int kBits, bool kFloat = false>
Status multiply(Queue& queue, const NBitsArgs& args) {
  return few_rows<T>(queue, {args.m, args.n, args.k, args.a, args.bias, args.out},
                     BlockWeights<kBits, kFloat>{Blocks(args)});
}

}  // namespace

Status nbits_product(Queue& queue, const NBitsArgs& args) {
  return by_float(args.type, [&](auto one) -> Status {
    using T = decltype(one);
    if (args.float8.exponent > 0) return multiply<T, 8, true>(queue, args);
    if (args.bits == 2) return multiply<T, 2>(queue, args);
    if (args.bits == 4) return multiply<T, 4>(queue, args);
    if (args.bits == 8) return multiply<T, 8>(queue, args);
    return "no kernel for weights of so many bits";
  });
}

Status nbits_unpack(Queue& queue, const NBitsArgs& args) {
  return by_float(args.type, [&](auto one) {
    return for_each(queue, args.n * args.k, Unpack<decltype(one)>{Blocks(args), Divider(args.k)});
  });
}

}  // namespace mlopt::gpu
