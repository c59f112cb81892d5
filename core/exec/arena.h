#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace mlopt {

/// Memory that is needed from step `first` to step `last`, both included.
struct Lifetime {
  size_t bytes;
  int first, last;
};

struct Arena {
  std::vector<size_t> offsets;  ///< of each lifetime, multiples of 64
  size_t bytes = 0;
};

/// Places lifetimes so that none that are alive at the same step overlap: the largest first, each at the lowest offset
/// that is free while it lives (greedy by size; Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net
/// Inference", 2020).
Arena place(std::span<const Lifetime> lifetimes);

}  // namespace mlopt
