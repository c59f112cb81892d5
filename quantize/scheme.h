#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace mlopt::quantize {

/// What the codes of a weight may stand for.
enum class Levels {
  kUniform,   ///< (code - zero) * scale
  kTable,     ///< table[code] * scale, where the table is the same for all (NF4, powers of two, float formats)
  kCodebook,  ///< table[code], where each group has learned its own
  kVectors,   ///< table[code] * scale, where an entry is several numbers, and the table is learned for the tensor
};

/// How a weight is stored in few bits, seen as a matrix with a row for each output.
struct Scheme {
  Levels levels = Levels::kUniform;
  int bits = 4;              ///< of a code, 1 to 8
  bool symmetric = false;    ///< of kUniform: the zero is the code in the middle, 2^(bits - 1)
  int64_t group = 0;         ///< columns of a row that share a scale or a codebook; 0: all of the row
  bool per_tensor = false;   ///< one scale or codebook for all rows and columns
  std::vector<float> table;  ///< of kTable: 2^bits values that ascend, the largest magnitude 1
  int64_t vector = 1;        ///< of kVectors: numbers of a row that a code stands for, 2 to 8
  double kept = 0;           ///< share of the numbers that are stored as they are, see largest_numbers()

  int64_t codes() const { return int64_t{1} << bits; }
  /// -1, 0 and 1, the last of which has two codes?
  bool is_ternary() const { return levels == Levels::kTable && bits == 2 && table[1] == 0 && table[2] == table[3]; }
};

/// What the codes of one group stand for.
struct Alphabet {
  float scale = 1;               ///< normal and above 0
  int zero = 0;                  ///< of kUniform: the code of 0
  std::span<const float> table;  ///< empty for kUniform
  int most = 15;                 ///< the largest code

  /// The code whose value is nearest to x; NaN gives that of 0.
  uint8_t nearest(float x) const;
  /// nearest() of each.
  void nearest(std::span<const float> x, uint8_t* to) const;
  float value(uint8_t code) const {
    return table.empty() ? static_cast<float>(code - zero) * scale : table[code] * scale;
  }
};

}  // namespace mlopt::quantize
