#include "core/ir/stored_weights.h"

#include <algorithm>
#include <numeric>

#include "core/base/parallel.h"
#include "core/tensor/codes.h"

namespace mlopt {
namespace {

constexpr int kByte = 8;
constexpr int64_t kGrain = 1 << 16;

enum Input { kSource, kCodes, kScales, kZeros, kPlaces };

/// One for each block: given as packed codes or as numbers, or 2^(bits - 1).
Expected<Tensor> zeros_of(const StoredWeights& w, const NodeView& view) {
  const int64_t blocks = w.blocks(), row = (blocks * w.bits + kByte - 1) / kByte;
  const Tensor* given = view.constant(kZeros);
  if (!given && view.node().input(kZeros)) return Decline{"its weights are not constant"};
  if (given && given->dtype() == DType::kF32 && given->size() == w.n * blocks) return given->aligned();
  if (given && (given->dtype() != DType::kU8 || given->size() != w.n * row))
    return Decline{"its zero points are not one for each block"};
  Tensor zeros(DType::kF32, {w.n, blocks});
  const Tensor points = given ? given->aligned() : Tensor();
  for (int64_t i = 0; i < zeros.size(); ++i)
    zeros.mutable_data<float>()[i] = static_cast<float>(
        given ? code_at(points.data<uint8_t>() + i / blocks * row, w.bits, i % blocks) : 1 << (w.bits - 1));
  return zeros;
}

Expected<StoredWeights> nbits(const NodeView& view, StoredWeights w) {
  w.bits = static_cast<int>(view.get_int("bits", 4));
  if (w.bits != 2 && w.bits != 4 && w.bits != kByte) return Decline{"its attributes are odd"};
  if (w.size % kByte != 0) return Decline{"its blocks are not of whole bytes"};
  if (view.node().input(kPlaces)) return Decline{"its rows name their blocks"};
  if (w.codes.size() != w.n * w.blocks() * w.size * w.bits / kByte || w.scales.size() != w.n * w.blocks())
    return Decline{"its weights have not the sizes that its attributes say"};
  auto zeros = zeros_of(w, view);
  if (!zeros) return zeros.error();
  w.zeros = *std::move(zeros);
  return w;
}

/// Blocks that run across rows are taken apart into smaller ones, and the halves of bytes swapped.
Expected<StoredWeights> bnb4(const NodeView& view, StoredWeights w) {
  const int64_t kind = view.get_int("quant_type", -1), count = w.n * w.k, given = w.size;
  if ((kind != 0 && kind != 1) || view.get_int("transB", 1) == 0) return Decline{"its attributes are odd"};
  if (w.codes.size() != (count + 1) / 2 || w.scales.size() != (count + given - 1) / given)
    return Decline{"its weights have not the sizes that its attributes say"};
  w.size = std::gcd(given, w.k);
  if (w.size % kByte != 0) return Decline{"its blocks are not of whole bytes"};
  w.levels = kind == 1 ? &kNF4 : &kFP4;
  Tensor codes(DType::kU8, {w.codes.size()}), scales(DType::kF32, {w.n, w.blocks()});
  parallel_for(codes.size(), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int byte = w.codes.data<uint8_t>()[i];
      codes.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(byte << 4 | byte >> 4);
    }
  });
  for (int64_t i = 0; i < scales.size(); ++i)
    scales.mutable_data<float>()[i] = w.scales.data<float>()[i * w.size / given];
  w.codes = std::move(codes);
  w.scales = std::move(scales);
  return w;
}

}  // namespace

ByteSteps byte_steps(const float* x, int64_t count) {
  constexpr float kSteps = 127;
  float largest = 0;
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(x[i]));
  return {largest / kSteps, largest == 0 ? 0 : kSteps / largest};
}

void round_row(const float* x, int64_t count, int64_t block, float* out) {
  for (int64_t from = 0; from < count; from += block) {
    const int64_t end = std::min(count, from + block);
    const ByteSteps by = byte_steps(x + from, end - from);
    for (int64_t i = from; i < end; ++i) out[i] = static_cast<float>(by.rounded(x[i])) * by.step;
  }
}

bool has_byte_kernel(int64_t bits, int64_t block) {
  constexpr int64_t kLeast = 32, kMost = 128;
  return bits != 2 || (block >= kLeast && block <= kMost);
}

bool rounds_rows(const NodeView& view) {
  return view.node().op == "MatMulNBits" && view.get_int("accuracy_level", 0) == kByteLevel &&
         has_byte_kernel(view.get_int("bits", 4), view.get_int("block_size", 0));
}

float StoredWeights::at(int64_t row, int64_t column) const {
  const int64_t block = row * blocks() + column / size;
  const int code = code_at(codes.data<uint8_t>() + row * blocks() * size * bits / kByte, bits, column);
  const float number =
      levels ? (*levels)[static_cast<size_t>(code)] : static_cast<float>(code) - zeros.data<float>()[block];
  return number * scales.data<float>()[block];
}

Expected<StoredWeights> stored_weights(const NodeView& view) {
  StoredWeights w;
  w.n = view.get_int("N", 0), w.k = view.get_int("K", 0), w.size = view.get_int("block_size", 0);
  constexpr int64_t kMost = int64_t{1} << 28;  // products of two of them fit
  if (w.n <= 0 || w.k <= 0 || w.size <= 0 || w.n > kMost || w.k > kMost || w.size > kMost)
    return Decline{"its attributes are odd"};
  const Tensor *codes = view.constant(kCodes), *scales = view.constant(kScales);
  if (!codes || !scales) return Decline{"its weights are not constant"};
  if (scales->dtype() != DType::kF32 || codes->dtype() != DType::kU8) return Decline{"it is not of float32"};
  w.codes = codes->aligned();
  w.scales = scales->aligned();
  return view.node().op == "MatMulBnb4" ? bnb4(view, std::move(w)) : nbits(view, std::move(w));
}

}  // namespace mlopt
