#include "prune/allocations.h"

#include <bit>
#include <cmath>

namespace mlopt::prune {
namespace {

constexpr Allocation kAllocations[] = {
    {"uniform", "the same share of every layer", "none", allocate_uniform, true},
    {"global", "the least of all layers, where scores are shares of what an output is made of", "channel",
     allocate_global},
    {"lamp", "the least of all layers as shares of what their layer keeps", "channel", allocate_lamp},
    {"erk", "less of layers with few weights for their inputs and outputs", "none", allocate_erk},
    {kSensitivity, "most of layers that can spare it, as was measured on --data (see --curves)", "none", nullptr, true},
    {kByLatency,
     "of channels, heads and layers: most where the time that is saved, measured, is greatest for what is lost", "none",
     nullptr, true},
    {kAmc, "of channels and heads: by an agent that learns from what comes of it, see --episodes", "none", nullptr,
     true},
};

/// Units of one candidate that compete, and their scores.
struct Pool {
  Candidate* candidate;
  int64_t first;
  std::span<const float> scores;

  int64_t size(size_t i) const { return candidate->units.size(first + static_cast<int64_t>(i)); }
  void remove(size_t i) const { candidate->removed[static_cast<size_t>(first) + i] = true; }
};

/// A number that is greater for the greater of two scores.
uint32_t rank_of(float score) {
  const auto bits = std::bit_cast<uint32_t>(score == 0 ? 0.0F : score);  // -0 is 0
  return bits >> 31 ? ~bits : bits | 0x80000000U;
}

/// The rank at which the weights of all lesser ranks are at most `wanted`, and those up to it more, or all there are.
/// Found by its upper 16 bits, then by its lower ones: nothing is sorted, nothing is copied.
uint32_t rank_at(std::span<const Pool> pools, int64_t wanted) {
  uint32_t upper = 0;
  int64_t below = 0;
  for (const bool lower : {false, true}) {
    std::vector<int64_t> weights(1 << 16);
    for (const Pool& pool : pools)
      for (size_t i = 0; i < pool.scores.size(); ++i) {
        const uint32_t rank = rank_of(pool.scores[i]);
        if (!lower)
          weights[rank >> 16] += pool.size(i);
        else if (rank >> 16 == upper)
          weights[rank & 0xffff] += pool.size(i);
      }
    uint32_t at = 0, last = 0;  // the last that has any weights
    for (uint32_t k = 0; k < weights.size(); ++k) last = weights[k] > 0 ? k : last;
    while (at < last && below + weights[at] <= wanted) below += weights[at++];
    if (lower) return upper << 16 | at;
    upper = at;
  }
  return 0;
}

/// Removes those of least score until as many weights are gone as are wanted; of equal scores the first, and one that
/// goes beyond what is wanted only where that is nearer.
void remove_first(std::span<const Pool> pools, double share) {
  int64_t weights = 0, gone = 0;
  for (const Pool& pool : pools)
    for (size_t i = 0; i < pool.scores.size(); ++i) weights += pool.size(i);
  const auto wanted = static_cast<int64_t>(std::llround(share * static_cast<double>(weights)));
  const uint32_t edge = rank_at(pools, wanted);
  for (const bool equal : {false, true})
    for (const Pool& pool : pools)
      for (size_t i = 0; i < pool.scores.size(); ++i) {
        const uint32_t rank = rank_of(pool.scores[i]);
        if (equal ? rank != edge : rank >= edge) continue;
        if (equal && 2 * (wanted - gone) < pool.size(i)) return;
        pool.remove(i);
        gone += pool.size(i);
      }
}

}  // namespace

std::span<const Allocation> allocations() { return kAllocations; }

void remove_share(Candidate& candidate, double share, Rivals rivals) {
  const int64_t all = candidate.units.count(), apart = rivals == Rivals::kRow ? candidate.units.across() : all;
  for (int64_t first = 0; first < all; first += apart) {
    const Pool pool{&candidate, first,
                    std::span(candidate.scores).subspan(static_cast<size_t>(first), static_cast<size_t>(apart))};
    remove_first({&pool, 1}, share);
  }
}

void remove_least(std::span<Candidate> candidates, const std::vector<std::vector<float>>& scores, double share) {
  std::vector<Pool> pools;
  for (size_t i = 0; i < candidates.size(); ++i) pools.push_back({&candidates[i], 0, scores[i]});
  remove_first(pools, share);
}

}  // namespace mlopt::prune
