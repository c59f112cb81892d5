#include "prune/granularity.h"

#include <fmt/core.h>

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/named.h"
#include "core/base/text.h"

namespace mlopt::prune {
namespace {

constexpr GranularityRow kGranularities[] = {
    {"element", Kind::kMask, "single weights"},
    {"N:M", Kind::kMask, "at most N of every M weights along the axis that is summed over stay (2:4, 4:8, ...)"},
    {"block", Kind::kMask, "blocks of R outputs by C inputs (block=RxC)"},
    {"kernel", Kind::kMask, "the filter of one input channel for one output channel"},
    {"channel", Kind::kStructure, "channels and neurons with everything that is coupled to them"},
    {"head", Kind::kStructure, "heads of attention"},
    {kLayers, Kind::kStructure, "whole residual blocks"},
    {kEmbedding, Kind::kStructure, "dimensions of the width that all layers share"},
};

/// The two positive numbers of "2:4" or "4x1".
std::optional<std::pair<int64_t, int64_t>> two_numbers(std::string_view text, char between) {
  const size_t at = text.find(between);
  if (at == std::string_view::npos) return std::nullopt;
  const auto first = parse_int(text.substr(0, at)), second = parse_int(text.substr(at + 1));
  if (!first || !second || *first < 1 || *second < 1) return std::nullopt;
  return std::pair{*first, *second};
}

Granularity parse_pattern(std::string_view text) {
  const auto numbers = two_numbers(text, ':');
  if (!numbers || numbers->first >= numbers->second)
    usage_error(fmt::format("'{}' is no N:M pattern", text), "--granularity", "N of every M stay, as in 2:4");
  Granularity g;
  g.name = "N:M";
  std::tie(g.keep, g.of) = *numbers;
  return g;
}

Granularity parse_block(std::string_view text, std::string_view size) {
  const auto numbers = two_numbers(size, 'x');
  if (!numbers)
    usage_error(fmt::format("'{}' is no block", text), "--granularity", "R outputs by C inputs, as in block=4x1");
  Granularity g;
  g.name = "block";
  std::tie(g.rows, g.columns) = *numbers;
  return g;
}

}  // namespace

Kind Granularity::kind() const { return find_named(granularities(), name)->kind; }

std::span<const GranularityRow> granularities() { return kGranularities; }

Granularity parse_granularity(std::string_view text) {
  if (text.find(':') != std::string_view::npos) return parse_pattern(text);
  const size_t equals = text.find('=');
  if (text.substr(0, equals) == "block")
    return parse_block(text, equals == std::string_view::npos ? "" : text.substr(equals + 1));
  Granularity g;
  g.name = text;
  require_named(granularities(), text, "granularity", "--granularity");
  return g;
}

std::string to_string(const Granularity& g) {
  if (g.pattern()) return fmt::format("{}:{}", g.keep, g.of);
  if (g.name == "block") return fmt::format("block={}x{}", g.rows, g.columns);
  return g.name;
}

}  // namespace mlopt::prune
