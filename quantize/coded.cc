#include "quantize/coded.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "quantize/few_levels.h"

namespace mlopt::quantize {

namespace {

/// 1.5 * 2^23: a float this large has no places behind the point, so that adding it rounds to even.
constexpr float kRounds = 12582912;

/// 0 for NaN. Bits instead of a comparison of floats, which compilers leave out of vectors.
float number_or_zero(float x) {
  constexpr int32_t kMagnitude = 0x7fffffff, kInfinity = 0x7f800000;
  const auto bits = std::bit_cast<int32_t>(x);
  return std::bit_cast<float>((bits & kMagnitude) > kInfinity ? 0 : bits);
}

/// Uniform levels: what their codes begin and end with.
struct Line {
  float scale, low, high, zero;

  uint8_t code(float x) const {  // no call, no branch
    const float steps = number_or_zero(x) / scale;
    const float above = steps < low ? low : steps, inside = above > high ? high : above;
    return static_cast<uint8_t>(static_cast<int>((inside + kRounds) - kRounds + zero));
  }
};

constexpr size_t kBlock = 32;

/// As many at once as compilers make vectors of.
void code_block(const Line& line, const float* from, uint8_t* to) {
  std::array<float, kBlock> x;
  std::array<uint8_t, kBlock> codes;
  std::memcpy(x.data(), from, sizeof x);
  for (size_t i = 0; i < kBlock; ++i) codes[i] = line.code(x[i]);
  std::memcpy(to, codes.data(), sizeof codes);
}

}  // namespace

uint8_t Alphabet::nearest(float x) const {
  uint8_t code = 0;
  nearest({&x, 1}, &code);
  return code;
}

void Alphabet::nearest(std::span<const float> x, uint8_t* to) const {
  if (table.empty()) {
    const auto origin = static_cast<float>(zero);
    const Line line = {scale, -origin, static_cast<float>(most) - origin, origin};
    size_t i = 0;
    for (; i + kBlock <= x.size(); i += kBlock) code_block(line, x.data() + i, to + i);
    for (; i < x.size(); ++i) to[i] = line.code(x[i]);
    return;
  }
  size_t done = 0;
  if (table.size() <= FewLevels::kMost && x.size() >= kBlock) done = FewLevels(table, scale).code(x, to);
  for (size_t i = done; i < x.size(); ++i) {
    const float wanted = x[i] == x[i] ? x[i] / scale : 0;
    // The number of values whose middle with the next is passed.
    const auto past = [&](float a, float b) { return wanted > a + (b - a) / 2; };
    size_t code = 0;
    for (size_t step = table.size() / 2; step > 0; step /= 2)
      if (past(table[code + step - 1], table[code + step])) code += step;
    to[i] = static_cast<uint8_t>(code);
  }
}

Coded::Coded(const Scheme& scheme, int64_t rows_, int64_t columns_)
    : levels(scheme.levels),
      bits(scheme.bits),
      rows(rows_),
      columns(columns_),
      group(scheme.per_tensor || scheme.group <= 0 ? columns_ : std::min(scheme.group, columns_)),
      vector(scheme.vector),
      codes(static_cast<size_t>(rows_ * code_columns())),
      scale(scheme.per_tensor ? 1 : static_cast<size_t>(rows_ * groups()), 1.0f),
      table(scheme.table) {
  if (levels == Levels::kUniform) zero.resize(scale.size());
  if (levels == Levels::kCodebook) table.resize(scale.size() << bits);
  if (levels == Levels::kVectors) table.resize(static_cast<size_t>(vector) << bits);
}

Alphabet Coded::alphabet(size_t index) const {
  Alphabet a{scale[index], 0, {}, (1 << bits) - 1};
  if (levels == Levels::kUniform) a.zero = zero[index];
  if (levels == Levels::kTable) a.table = table;
  if (levels == Levels::kCodebook) a.table = std::span(table).subspan(index << bits, size_t{1} << bits);
  return a;
}

void Coded::set_alphabet(size_t index, const Alphabet& alphabet) {
  scale[index] = alphabet.scale;
  if (levels == Levels::kUniform) zero[index] = static_cast<uint8_t>(alphabet.zero);
}

std::span<float> Coded::codebook(size_t index) {
  if (levels != Levels::kCodebook) return {};
  return std::span(table).subspan(index << bits, size_t{1} << bits);
}

namespace {

void put_back(const Kept& kept, Matrix& values) {
  for (size_t i = 0; i < kept.at.size(); ++i)
    values.at(kept.at[i] / values.columns, kept.at[i] % values.columns) = kept.numbers[i];
}

Matrix decode_vectors(const Coded& coded) {
  Matrix values = Matrix::zeros(coded.rows, coded.columns);
  for (int64_t r = 0; r < coded.rows; ++r)
    for (int64_t c = 0; c < coded.columns; ++c) {
      const uint8_t code = coded.codes[static_cast<size_t>(r * coded.code_columns() + c / coded.vector)];
      values.at(r, c) = coded.table[static_cast<size_t>(code * coded.vector + c % coded.vector)] *
                        coded.scale[coded.alphabet_at(r, c)];
    }
  return values;
}

}  // namespace

int64_t packed_bytes(const Coded& coded) {
  constexpr int64_t kByte = 8, kFloat = 4;
  return (std::ssize(coded.codes) * coded.bits + kByte - 1) / kByte + std::ssize(coded.scale) * kFloat +
         std::ssize(coded.zero) + std::ssize(coded.table) * kFloat;
}

int64_t packed_bytes(const Scheme& scheme, int64_t rows, int64_t columns) {
  constexpr int64_t kByte = 8, kFloat = 4;
  const int64_t group = scheme.group > 0 ? std::min(scheme.group, columns) : columns;
  const int64_t scales = scheme.per_tensor ? 1 : rows * ((columns + group - 1) / group);
  const int64_t codes = rows * ((columns + scheme.vector - 1) / scheme.vector);
  const int64_t table = scheme.levels == Levels::kCodebook  ? scales * scheme.codes()
                        : scheme.levels == Levels::kVectors ? scheme.vector * scheme.codes()
                                                            : std::ssize(scheme.table);
  return (codes * scheme.bits + kByte - 1) / kByte + (scales + table) * kFloat +
         (scheme.levels == Levels::kUniform ? scales : 0);
}

Matrix decode(const Coded& coded) {
  const bool vectors = coded.levels == Levels::kVectors;
  Matrix values = vectors ? decode_vectors(coded) : Matrix::zeros(coded.rows, coded.columns);
  for (int64_t r = 0; r < coded.rows && !vectors; ++r)
    for (int64_t first = 0; first < coded.columns; first += coded.group) {
      const Alphabet alphabet = coded.alphabet(coded.alphabet_at(r, first));
      for (int64_t c = first; c < std::min(coded.columns, first + coded.group); ++c)
        values.at(r, c) = alphabet.value(coded.codes[static_cast<size_t>(r * coded.columns + c)]);
    }
  put_back(coded.kept, values);
  return values;
}

}  // namespace mlopt::quantize
