#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quantize/scheme.h"

namespace mlopt::quantize {

/// What the numbers of a weight-only format are.
enum class Family { kUniform, kNF4, kFP4, kF8E4M3, kF8E5M2, kPower, kAdditivePower, kTernary, kCodebook, kVectors };

/// A format that only weights are stored in, as --to names it: "w4g32", "nf4", "codebook3", "codebook8v4".
struct WeightFormat {
  Family family = Family::kUniform;
  int bits = 8;
  int64_t group = 0;   ///< inputs of an output that share a scale or a codebook; 0: all of them, a channel
  int64_t vector = 1;  ///< of kVectors: numbers that a code of `bits` bits stands for, 2 to 8

  bool is_float8() const { return family == Family::kF8E4M3 || family == Family::kF8E5M2; }
  friend bool operator==(const WeightFormat&, const WeightFormat&) = default;
};

/// Nothing for a text that names none. Throws Error{kUsage} for one that nearly does: a width that there is not, a
/// group of less than two.
std::optional<WeightFormat> parse_weight_format(std::string_view text);
std::string to_string(const WeightFormat& format);
/// Some of them, for suggestions.
std::vector<std::string> weight_format_names();

/// `symmetric` concerns uniform levels; those of 8 bits are so always.
Scheme scheme_of(const WeightFormat& format, bool per_tensor, bool symmetric);

}  // namespace mlopt::quantize
