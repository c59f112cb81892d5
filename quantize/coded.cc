#include "quantize/coded.h"

#include <algorithm>
#include <cmath>

namespace mlopt::quantize {

namespace {

/// 1.5 * 2^23: a float this large has no places behind the point, so that adding it rounds to even.
constexpr float kRounds = 12582912;

/// Of uniform levels; no call, no branch.
uint8_t uniform_code(float x, float scale, float low, float high, float zero) {
  const float steps = x == x ? x / scale : 0;
  const float inside = steps < low ? low : steps > high ? high : steps;
  return static_cast<uint8_t>((inside + kRounds) - kRounds + zero);
}

}  // namespace

uint8_t Alphabet::nearest(float x) const {
  uint8_t code = 0;
  nearest({&x, 1}, &code);
  return code;
}

void Alphabet::nearest(std::span<const float> x, uint8_t* to) const {
  if (table.empty()) {
    const auto origin = static_cast<float>(zero), low = -origin, high = static_cast<float>(most) - origin;
    for (size_t i = 0; i < x.size(); ++i) to[i] = uniform_code(x[i], scale, low, high, origin);
    return;
  }
  for (size_t i = 0; i < x.size(); ++i) {
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
      codes(static_cast<size_t>(rows_ * columns_)),
      scale(scheme.per_tensor ? 1 : static_cast<size_t>(rows_ * groups()), 1.0f),
      table(scheme.table) {
  if (levels == Levels::kUniform) zero.resize(scale.size());
  if (levels == Levels::kCodebook) table.resize(scale.size() << bits);
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

Matrix decode(const Coded& coded) {
  Matrix values = Matrix::zeros(coded.rows, coded.columns);
  for (int64_t r = 0; r < coded.rows; ++r)
    for (int64_t first = 0; first < coded.columns; first += coded.group) {
      const Alphabet alphabet = coded.alphabet(coded.alphabet_at(r, first));
      for (int64_t c = first; c < std::min(coded.columns, first + coded.group); ++c)
        values.at(r, c) = alphabet.value(coded.codes[static_cast<size_t>(r * coded.columns + c)]);
    }
  return values;
}

}  // namespace mlopt::quantize
