#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace mlopt::cpu {

/// Elements of a vector of 16 bytes, and rows and columns of a tile that is transposed in registers.
template <class T>
inline constexpr int64_t kTile = 16 / sizeof(T);

/// The lower (from = 0) or upper (from = N / 2) halves of two vectors, their elements in turn.
template <size_t from, class Vector, size_t... i>
Vector interleave(Vector a, Vector b, std::index_sequence<i...>) {
  return __builtin_shufflevector(a, b, (from + i / 2 + i % 2 * sizeof...(i))...);
}

/// to[r * to_step + c] = from[c * from_step + r] for the rows r and columns c of a tile. Each turn of the loop
/// interleaves the first half of the vectors with the second: as many turns as a place has bits exchange the bits of
/// the vector's number with those of the place in it.
template <class T>
void transpose_tile(const T* from, T* to, int64_t from_step, int64_t to_step) {
  constexpr auto n = static_cast<size_t>(kTile<T>);
  typedef T Vector __attribute__((vector_size(16)));
  constexpr auto places = std::make_index_sequence<n>();
  Vector rows[n], next[n];
  for (size_t k = 0; k < n; ++k) std::memcpy(&rows[k], from + static_cast<int64_t>(k) * from_step, 16);
  for (size_t turn = 1; turn < n; turn *= 2) {
    for (size_t k = 0; k < n / 2; ++k) {
      next[2 * k] = interleave<0>(rows[k], rows[k + n / 2], places);
      next[2 * k + 1] = interleave<n / 2>(rows[k], rows[k + n / 2], places);
    }
    std::copy_n(next, n, rows);
  }
  for (size_t k = 0; k < n; ++k) std::memcpy(to + static_cast<int64_t>(k) * to_step, &rows[k], 16);
}

/// The same for lines of the cache, as many rows and columns as a line has elements in each block, through a block of
/// their own: for rows a power of two apart, whose lines drive each other out of the cache before they are full.
template <class T>
void transpose_lines(const T* from, T* to, int64_t rows, int64_t columns, int64_t from_step, int64_t to_step) {
  constexpr int64_t n = kTile<T>, kLine = 64 / sizeof(T);
  alignas(64) T block[kLine * kLine];
  for (int64_t r = 0; r < rows; r += kLine)
    for (int64_t c = 0; c < columns; c += kLine) {
      for (int64_t column = 0; column < kLine; column += n)
        for (int64_t row = 0; row < kLine; row += n)
          transpose_tile(from + (c + column) * from_step + r + row, block + row * kLine + column, from_step, kLine);
      for (int64_t row = 0; row < kLine; ++row) std::memcpy(to + (r + row) * to_step + c, block + row * kLine, 64);
    }
}

/// The same for any number of rows and columns from one tile on: the last tiles lie over those before them. A line of
/// the cache is read whole before the next.
template <class T>
void transpose_block(const T* from, T* to, int64_t rows, int64_t columns, int64_t from_step, int64_t to_step) {
  constexpr int64_t n = kTile<T>, kLine = 64 / sizeof(T);
  constexpr int64_t kConflict = 1024;  // elements: a line of each of as many rows does not fit caches of 8 ways
  if (to_step % kConflict == 0 && rows % kLine == 0 && columns % kLine == 0)
    return transpose_lines(from, to, rows, columns, from_step, to_step);
  for (int64_t line = 0; line < rows; line += kLine) {
    const int64_t end = std::min(line + kLine, rows);
    for (int64_t c = 0; c < columns; c += n) {
      c = std::min(c, columns - n);
      for (int64_t r = line; r < end; r += n) {
        const int64_t first = std::min(r, rows - n);
        transpose_tile(from + c * from_step + first, to + first * to_step + c, from_step, to_step);
      }
    }
  }
}

}  // namespace mlopt::cpu
