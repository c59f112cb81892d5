#include "quantize/emit/packed_rows.h"

#include <algorithm>
#include <bit>

#include "core/base/parallel.h"

namespace mlopt::quantize {
namespace {

/// One row of codes, the first of a byte in its low bits.
template <int kBits>
void pack_row(const uint8_t* from, int64_t width, uint8_t* to) {
  constexpr int64_t kInByte = 8 / kBits;
  const int64_t whole = width / kInByte;
  for (int64_t b = 0; b < whole; ++b) {
    int byte = 0;
    for (int64_t k = 0; k < kInByte; ++k) byte |= from[b * kInByte + k] << (k * kBits);
    to[b] = static_cast<uint8_t>(byte);
  }
  for (int64_t c = whole * kInByte; c < width; ++c)
    to[whole] = static_cast<uint8_t>(to[whole] | from[c] << (c % kInByte * kBits));
}

}  // namespace

Tensor packed_rows(const std::vector<uint8_t>& codes, int64_t width, int bits, const Dims& dims) {
  const auto pack = bits == 8 ? pack_row<8> : bits == 4 ? pack_row<4> : pack_row<2>;
  Tensor out = Tensor::zeros(DType::kU8, dims);
  const int64_t rows = dims[0], bytes = out.size() / rows;
  auto* to = out.mutable_data<uint8_t>();
  parallel_for(rows, 64, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) pack(codes.data() + r * width, width, to + r * bytes);
  });
  return out;
}

int64_t block_of(int64_t group, int64_t columns) {
  constexpr int64_t kLeastBlock = 16;
  if (group > 0 && group < columns) return group;
  return std::max(kLeastBlock, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(columns))));
}

}  // namespace mlopt::quantize
