#pragma once
#include "backends/gpu/device/launch.h"

namespace mlopt::gpu {

/// An n-gram: where its numbers begin in a list, how many they are, and in which column it is counted, with which
/// weight.
struct Gram {
  int32_t first, length, column;
  float weight;
};

/// What becomes of how often a gram is found.
enum class GramMode { kCount, kFound, kWeighted };

/// out[row, column] = how often its gram is found in row `row` of [rows, length] with up to `skips` numbers left out
/// between two of it, alike; 1 or its weight where it is found (kFound), or times that (kWeighted). No two grams have
/// one column; the others are left as they are.
struct GramsArgs {
  GramMode mode;
  bool wide;  ///< numbers are int64, else int32
  int64_t rows, length, columns, grams, skips;
  const Gram* table;
  const int64_t* pool;
  const void* in;
  float* out;
};
Status count_grams(Queue& queue, const GramsArgs& args);

}  // namespace mlopt::gpu
