#pragma once
#include <cstdint>
#include <vector>

#include "core/calib/matrix.h"
#include "quantize/scheme.h"

namespace mlopt::quantize {

/// Numbers of a weight that are stored as they are, beside the codes and in place of what these say.
struct Kept {
  std::vector<int64_t> at;  ///< places in the matrix, row by row, ascending
  std::vector<float> numbers;
};

/// A weight as codes of a few bits and what they stand for, by groups of columns.
struct Coded {
  Levels levels = Levels::kUniform;
  int bits = 4;
  int64_t rows = 0, columns = 0;
  int64_t group = 0;           ///< columns of a row in a group; the last may have fewer
  int64_t vector = 1;          ///< columns of a row that one code is for; the last may stand for more than there are
  std::vector<uint8_t> codes;  ///< [rows, code_columns()]
  std::vector<float> scale;    ///< [rows, groups()], or one per tensor
  std::vector<uint8_t> zero;   ///< of kUniform: as scale
  std::vector<float> table;    ///< of kTable: [2^bits]; of kCodebook: [rows, groups(), 2^bits], or one per tensor; of
                               ///< kVectors: [2^bits, vector]
  Kept kept;

  /// As the scheme says, all codes 0.
  Coded(const Scheme& scheme, int64_t rows, int64_t columns);
  int64_t groups() const { return (columns + group - 1) / group; }
  int64_t code_columns() const { return (columns + vector - 1) / vector; }
  bool per_tensor() const { return scale.size() == 1; }
  /// Which of the alphabets element (r, c) is written in.
  size_t alphabet_at(int64_t r, int64_t c) const {
    return per_tensor() ? 0 : static_cast<size_t>(r * groups() + c / group);
  }
  /// Not of kVectors.
  Alphabet alphabet(size_t index) const;
  void set_alphabet(size_t index, const Alphabet& alphabet);
  /// Where the codebook of an alphabet is kept; empty for other levels.
  std::span<float> codebook(size_t index);
};

/// Bytes of codes, scales, zero points and tables, packed.
int64_t packed_bytes(const Coded& coded);
/// Of a weight of this size, before it is coded.
int64_t packed_bytes(const Scheme& scheme, int64_t rows, int64_t columns);

/// The numbers that the codes stand for.
Matrix decode(const Coded& coded);

}  // namespace mlopt::quantize
