// Products with weights of 4 and 8 bits, unpacked in registers.
#include "backends/gpu/device/codes.h"

namespace mlopt::gpu {
namespace {

/// Where the scale and the zero point of a block are.
struct Blocks {
  NBitsArgs args;
  Divider by_block;
  int64_t blocks;      ///< of a row
  int64_t zero_bytes;  ///< of a row

  explicit Blocks(const NBitsArgs& a)
      : args(a),
        by_block(static_cast<uint32_t>(a.block)),
        blocks((a.k + a.block - 1) / a.block),
        zero_bytes((blocks * a.bits + 7) / 8) {}

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

/// Each warp takes 8 bytes of codes in each of some columns at a time, and the numbers of a that they meet.
template <class T, int kBits, int kRows, bool kFloat>
struct FewRows {
  static constexpr int kLanes = 32, kWarps = 4, kColumns = 4, kCodes = 64 / kBits;
  struct Shared {
    float partial[kRows][kColumns][kLanes * kWarps];
  };
  struct Local {
    float sums[kRows][kColumns];
  };
  struct alignas(16) Piece {
    T numbers[16 / sizeof(T)];
  };
  Blocks blocks;
  bool aligned;  ///< rows of a, to 16 bytes

  /// The numbers of row `row` of a from k on.
  MLOPT_DEVICE void load(int64_t row, int64_t k, float (&a)[kCodes]) const {
    const NBitsArgs& args = blocks.args;
    const T* from = static_cast<const T*>(args.a) + row * args.k + k;
    constexpr int kEach = 16 / sizeof(T);
    if (aligned && k + kCodes <= args.k) {
#ifdef __CUDACC__
#pragma unroll
#endif
      for (int p = 0; p < kCodes / kEach; ++p) {
        const Piece piece = reinterpret_cast<const Piece*>(from)[p];
        for (int i = 0; i < kEach; ++i) a[p * kEach + i] = widen(piece.numbers[i]);
      }
    } else {
#ifdef __CUDACC__
#pragma unroll
#endif
      for (int i = 0; i < kCodes; ++i) a[i] = k + i < args.k ? widen(from[i]) : 0;
    }
  }

  MLOPT_DEVICE void multiply(int lane, int64_t row, int64_t column, Local& local) const {
    const NBitsArgs& args = blocks.args;
    const int64_t words = blocks.blocks * args.block / kCodes;
    for (int64_t word = lane; word < words; word += kLanes) {
      const uint32_t block = blocks.by_block.quotient(static_cast<uint32_t>(word * kCodes));
      float weights[kColumns][kCodes];
#ifdef __CUDACC__
#pragma unroll
#endif
      for (int c = 0; c < kColumns; ++c) {
        const int64_t n = column + c < args.n ? column + c : args.n - 1;  // what is too much is not stored
        const uint64_t codes = static_cast<const uint64_t*>(args.codes)[n * words + word];
        const float scale = blocks.scale(n, block) * (kFloat ? unit_of(args.float8) : 1);
        const float zero = kFloat ? 0 : blocks.zero(n, block);
#ifdef __CUDACC__
#pragma unroll
#endif
        for (int i = 0; i < kCodes; ++i) {
          const uint32_t code = static_cast<uint32_t>(codes >> (i * kBits)) & ((1u << kBits) - 1);
          const float number = kFloat ? args.float8.widen(static_cast<uint8_t>(code)) : static_cast<float>(code) - zero;
          weights[c][i] = number * scale;
        }
      }
#ifdef __CUDACC__
#pragma unroll
#endif
      for (int r = 0; r < kRows; ++r) {
        if (row + r >= args.m) continue;
        float a[kCodes];
        load(row + r, word * kCodes, a);
#ifdef __CUDACC__
#pragma unroll
#endif
        for (int c = 0; c < kColumns; ++c)
          for (int i = 0; i < kCodes; ++i) local.sums[r][c] += weights[c][i] * a[i];
      }
    }
  }

  MLOPT_DEVICE void operator()(Block<Shared, Local>& block) const {
    const NBitsArgs& args = blocks.args;
    constexpr int kTile = kWarps * kColumns;
    const int tiles = static_cast<int>((args.n + kTile - 1) / kTile);
    const int64_t row = block.index / tiles * kRows, first = static_cast<int64_t>(block.index % tiles) * kTile;
    block.each([&](int t, Local& local) {
      for (auto& line : local.sums)
        for (float& sum : line) sum = 0;
      multiply(t % kLanes, row, first + t / kLanes * kColumns, local);
      for (int r = 0; r < kRows; ++r)
        for (int c = 0; c < kColumns; ++c) block.shared.partial[r][c][t] = local.sums[r][c];
    });
    // One thread for each sum.
    block.each([&](int t, Local&) {
      const int r = t / kTile, warp = t / kColumns % kWarps, c = t % kColumns;
      const int64_t column = first + t % kTile;
      if (r >= kRows || row + r >= args.m || column >= args.n) return;
      float sum = args.bias ? widen(static_cast<const T*>(args.bias)[column]) : 0;
      for (int lane = 0; lane < kLanes; ++lane) sum += block.shared.partial[r][c][warp * kLanes + lane];
      static_cast<T*>(args.out)[(row + r) * args.n + column] = narrow<T>(sum);
    });
  }
};

template <class T, int kBits, int kRows, bool kFloat = false>
Status few_rows(Queue& queue, const NBitsArgs& args) {
  using Work = FewRows<T, kBits, kRows, kFloat>;
  const bool aligned =
      reinterpret_cast<uintptr_t>(args.a) % 16 == 0 && args.k * static_cast<int64_t>(sizeof(T)) % 16 == 0;
  constexpr int kTile = Work::kWarps * Work::kColumns;
  return for_blocks<Work::kWarps * Work::kLanes>(queue, (args.m + kRows - 1) / kRows * ((args.n + kTile - 1) / kTile),
                                                 Work{Blocks(args), aligned});
}

}  // namespace

Status nbits_product(Queue& queue, const NBitsArgs& args) {
  return by_float(args.type, [&](auto one) -> Status {
    using T = decltype(one);
    if (args.float8.exponent > 0)
      return args.m == 1 ? few_rows<T, 8, 1, true>(queue, args) : few_rows<T, 8, 4, true>(queue, args);
    if (args.bits == 4) return args.m == 1 ? few_rows<T, 4, 1>(queue, args) : few_rows<T, 4, 4>(queue, args);
    if (args.bits == 8) return args.m == 1 ? few_rows<T, 8, 1>(queue, args) : few_rows<T, 8, 4>(queue, args);
    return "no kernel for weights of so many bits";
  });
}

Status nbits_unpack(Queue& queue, const NBitsArgs& args) {
  return by_float(args.type, [&](auto one) {
    return for_each(queue, args.n * args.k,
                    Unpack<decltype(one)>{Blocks(args), Divider(static_cast<uint32_t>(args.k))});
  });
}

}  // namespace mlopt::gpu
