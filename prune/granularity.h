#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mlopt::prune {

/// Of whole residual blocks, see depth/blocks.h; of the width that all layers share.
inline constexpr std::string_view kLayers = "layer", kEmbedding = "embedding";

/// Whether what is removed leaves zeros behind, or shapes that are smaller.
enum class Kind { kMask, kStructure };

/// What is removed as one: "element", "2:4" (at most 2 of every 4 along the axis that is summed over stay), "block=4x1"
/// (outputs by inputs of a weight's matrix), "kernel", "channel", ...
struct Granularity {
  std::string name = "element";   ///< "N:M" and "block" without their numbers
  int64_t keep = 0, of = 0;       ///< of N:M
  int64_t rows = 1, columns = 1;  ///< of a block
  bool pattern() const { return of > 0; }
  Kind kind() const;
};

/// What N:M removes.
inline double share_of_pattern(const Granularity& g) {
  return 1 - static_cast<double>(g.keep) / static_cast<double>(g.of);
}

struct GranularityRow {
  std::string_view name;
  Kind kind;
  std::string_view doc;
};
/// All of them, from the finest on.
std::span<const GranularityRow> granularities();

/// Throws Error{kUsage} naming the nearest that there is.
Granularity parse_granularity(std::string_view text);
std::string to_string(const Granularity& granularity);

}  // namespace mlopt::prune
