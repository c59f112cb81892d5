#include "core/exec/arena.h"

#include <algorithm>
#include <numeric>

#include "core/base/align.h"

namespace mlopt {
namespace {

/// Lifetimes by when they are, so that one is compared with those alone that may overlap it in time.
class ByTime {
 public:
  void add(const Lifetime& life, size_t k) {
    if (blocks_of(life) > kWide) return wide_.push_back(k);
    for (size_t block = first_block(life); block <= last_block(life); ++block) {
      if (block >= blocks_.size()) blocks_.resize(block + 1);
      blocks_[block].push_back(k);
    }
  }

  /// Calls see(k) for all that may overlap it, for some more than once.
  template <class See>
  void each(const Lifetime& life, const See& see) const {
    for (const size_t k : wide_) see(k);
    for (size_t block = first_block(life); block <= last_block(life) && block < blocks_.size(); ++block)
      for (const size_t k : blocks_[block]) see(k);
  }

 private:
  static constexpr int kSteps = 64;    // of a block
  static constexpr size_t kWide = 16;  // blocks, of more a lifetime is compared with all others

  static size_t first_block(const Lifetime& life) { return static_cast<size_t>(std::max(0, life.first) / kSteps); }
  static size_t last_block(const Lifetime& life) { return static_cast<size_t>(std::max(0, life.last) / kSteps); }
  static size_t blocks_of(const Lifetime& life) { return last_block(life) - first_block(life) + 1; }

  std::vector<std::vector<size_t>> blocks_;
  std::vector<size_t> wide_;
};

}  // namespace

Arena place(std::span<const Lifetime> lifetimes) {
  Arena arena;
  arena.offsets.resize(lifetimes.size());
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  ByTime placed;
  std::vector<size_t> others;
  for (const size_t k : order) {
    const Lifetime& life = lifetimes[k];
    others.clear();
    placed.each(life, [&](size_t other) {
      const Lifetime& o = lifetimes[other];
      if (o.last >= life.first && life.last >= o.first) others.push_back(other);
    });
    std::sort(others.begin(), others.end(), [&](size_t a, size_t b) { return arena.offsets[a] < arena.offsets[b]; });
    const size_t bytes = aligned_size(life.bytes);
    size_t offset = 0;
    for (const size_t other : others) {
      if (offset + bytes <= arena.offsets[other]) break;
      offset = std::max(offset, arena.offsets[other] + aligned_size(lifetimes[other].bytes));
    }
    arena.offsets[k] = offset;
    arena.bytes = std::max(arena.bytes, offset + bytes);
    placed.add(life, k);
  }
  return arena;
}

}  // namespace mlopt
