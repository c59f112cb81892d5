#include "core/exec/arena.h"

#include <algorithm>
#include <numeric>

#include "core/base/align.h"

namespace mlopt {
Arena place(std::span<const Lifetime> lifetimes) {
  Arena arena;
  arena.offsets.resize(lifetimes.size());
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  std::vector<size_t> placed;  // by offset
  for (const size_t k : order) {
    const Lifetime& life = lifetimes[k];
    const size_t bytes = aligned_size(life.bytes);
    size_t offset = 0;
    for (const size_t other : placed) {
      const Lifetime& o = lifetimes[other];
      if (o.last < life.first || life.last < o.first) continue;
      if (offset + bytes <= arena.offsets[other]) break;
      offset = std::max(offset, arena.offsets[other] + aligned_size(o.bytes));
    }
    arena.offsets[k] = offset;
    arena.bytes = std::max(arena.bytes, offset + bytes);
    const auto by_offset = [&](size_t a, size_t b) { return arena.offsets[a] < arena.offsets[b]; };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), k, by_offset), k);
  }
  return arena;
}

}  // namespace mlopt
