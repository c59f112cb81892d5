#pragma once
// Products of a few rows with weights as codes: these are read once for some rows at a time and unpacked in registers.
#include "backends/gpu/device/launch.h"

namespace mlopt::gpu {

/// out [m, n] = a [m, k] times weights [n, k], transposed, plus bias [n] where given.
struct FewRowsArgs {
  int64_t m, n, k;
  const void *a, *bias;
  void* out;
};

/// Each warp takes a word of codes in each of some columns at a time, and the numbers of a that they meet. `Weights`
/// has the number of codes in a word, kCodes; what a block shares of them, Shared, with prepare(shared, thread); the
/// words() of a row; and unpack(shared, n, word, numbers).
template <class T, class Weights, int kRows>
struct FewRows {
  static constexpr int kLanes = 32, kWarps = 4, kColumns = 4, kCodes = Weights::kCodes;
  struct Shared {
    typename Weights::Shared weights;
    float partial[kRows][kColumns][kLanes * kWarps];
  };
  struct Local {
    float sums[kRows][kColumns];
  };
  struct alignas(16) Piece {
    T numbers[16 / sizeof(T)];
  };
  FewRowsArgs args;
  Weights weights;
  bool aligned;  ///< rows of a, to 16 bytes

  /// The numbers of row `row` of a from k on.
  MLOPT_DEVICE void load(int64_t row, int64_t k, float (&a)[kCodes]) const {
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

  MLOPT_DEVICE void multiply(const typename Weights::Shared& shared, int lane, int64_t row, int64_t column,
                             Local& local) const {
    const int64_t words = weights.words();
    for (int64_t word = lane; word < words; word += kLanes) {
      float numbers[kColumns][kCodes];
#ifdef __CUDACC__
#pragma unroll
#endif
      for (int c = 0; c < kColumns; ++c) {
        const int64_t n = column + c < args.n ? column + c : args.n - 1;  // what is too much is not stored
        weights.unpack(shared, n, word, numbers[c]);
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
          for (int i = 0; i < kCodes; ++i) local.sums[r][c] += numbers[c][i] * a[i];
      }
    }
  }

  MLOPT_DEVICE void operator()(Block<Shared, Local>& block) const {
    constexpr int kTile = kWarps * kColumns;
    const int tiles = static_cast<int>((args.n + kTile - 1) / kTile);
    const int64_t row = block.index / tiles * kRows, first = static_cast<int64_t>(block.index % tiles) * kTile;
    block.each([&](int t, Local& local) {
      weights.prepare(block.shared.weights, t);
      for (auto& line : local.sums)
        for (float& sum : line) sum = 0;
    });
    block.each([&](int t, Local& local) {
      multiply(block.shared.weights, t % kLanes, row, first + t / kLanes * kColumns, local);
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

template <class T, int kRows, class Weights>
Status few_rows_of(Queue& queue, const FewRowsArgs& args, const Weights& weights) {
  using Work = FewRows<T, Weights, kRows>;
  const bool aligned =
      reinterpret_cast<uintptr_t>(args.a) % 16 == 0 && args.k * static_cast<int64_t>(sizeof(T)) % 16 == 0;
  constexpr int kTile = Work::kWarps * Work::kColumns;
  return for_blocks<Work::kWarps * Work::kLanes>(queue, (args.m + kRows - 1) / kRows * ((args.n + kTile - 1) / kTile),
                                                 Work{args, weights, aligned});
}

/// One row at a time where there is but one, else four.
template <class T, class Weights>
Status few_rows(Queue& queue, const FewRowsArgs& args, const Weights& weights) {
  return args.m == 1 ? few_rows_of<T, 1>(queue, args, weights) : few_rows_of<T, 4>(queue, args, weights);
}

}  // namespace mlopt::gpu
