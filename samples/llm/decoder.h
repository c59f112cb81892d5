#pragma once
#include <cstdint>
#include <string>

#include "core/ir/model.h"

namespace mlopt::stories {

/// So many short stories of one sentence each, the same for the same seed: who has how many of what, gives some away,
/// and what is left, which follows from what was said before.
std::string text(int64_t count, uint64_t seed);

/// The size of a decoder.
struct Shape {
  int64_t length = 64;  ///< bytes that it looks at
  int64_t width = 64;   ///< numbers for each byte
  int64_t heads = 4;    ///< of its attention
  int64_t blocks = 2;
};

/// A transformer with random weights: `tokens`, bytes as int64 [N, length], to `logits` of the next, [N, length, 256].
Model decoder(const Shape& shape, uint64_t seed);

}  // namespace mlopt::stories
