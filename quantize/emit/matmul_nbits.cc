// MatMul(A, W) -> com.microsoft.MatMulNBits(A, codes, scales, zero points, bias), the weights transposed to outputs by
// inputs: codes [N][groups][bytes], the first of a byte in its low bits; zero points of a row packed likewise.
#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "core/base/parallel.h"
#include "quantize/emit/stored_product.h"
#include "quantize/emit/weight_forms.h"
#include "quantize/emit/weight_writer.h"

namespace mlopt::quantize {
namespace {

constexpr int64_t kLeastBlock = 16, kMostBlock = 256;

/// A row that is one group, as a block that it does not fill.
int64_t block_of(int64_t group, int64_t columns) {
  if (group > 0 && group < columns) return group;
  return std::max(kLeastBlock, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(columns))));
}

std::string problem(const Weight& weight, const Spec& spec) {
  const WeightFormat& format = spec.weights;
  const int bits = format.bits;
  if (format.family != Family::kUniform || (bits != 2 && bits != 4 && bits != 8))
    return "MatMulNBits has uniform levels in 2, 4 or 8 bits";
  if (spec.per_tensor) return "MatMulNBits has a scale for each group";
  const int64_t block = block_of(format.group, weight.columns);
  if (block < kLeastBlock || block > kMostBlock || std::popcount(static_cast<uint64_t>(block)) != 1)
    return fmt::format("MatMulNBits has groups of 16, 32, 64, 128 or 256, not {}",
                       format.group > 0 ? format.group : weight.columns);
  return stored_product_problem(weight);
}

int64_t opset(const Weight&, const Spec&) { return 1; }

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

/// Rows of `width` codes of a few bits as uint8 [dims], as many bytes for each row: what it does not fill is 0.
Tensor packed(const std::vector<uint8_t>& codes, int64_t width, int bits, const Dims& dims) {
  const auto pack = bits == 8 ? pack_row<8> : bits == 4 ? pack_row<4> : pack_row<2>;
  Tensor out = Tensor::zeros(DType::kU8, dims);
  const int64_t rows = dims[0], bytes = out.size() / rows;
  auto* to = out.mutable_data<uint8_t>();
  parallel_for(rows, 64, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) pack(codes.data() + r * width, width, to + r * bytes);
  });
  return out;
}

int64_t write(Model& model, const Weight& weight, const Coded& coded, const Spec& spec) {
  constexpr int kBias = 5;
  const int64_t n = coded.rows, block = block_of(spec.weights.group, coded.columns), groups = coded.groups();
  const int64_t block_bytes = block * coded.bits / 8;
  WeightWriter out(weight);
  StoredProduct product;
  product.op = "MatMulNBits";
  product.bias_at = kBias;
  product.stored = {out.constant("codes", packed(coded.codes, coded.columns, coded.bits, {n, groups, block_bytes})),
                    out.constant("scale", Tensor::of<float>({n, groups}, coded.scale))};
  if (!spec.scheme().symmetric) {
    const int64_t in_byte = 8 / coded.bits;
    product.stored.push_back(
        out.constant("zero_point", packed(coded.zero, groups, coded.bits, {n, (groups + in_byte - 1) / in_byte})));
  }
  // The level 0 computes in float32: level 4, which rounds activations to 8 bits, is faster and loses accuracy.
  product.attrs = {{"K", coded.columns, {}},
                   {"N", n, {}},
                   {"bits", static_cast<int64_t>(coded.bits), {}},
                   {"block_size", block, {}},
                   {"accuracy_level", int64_t{spec.accuracy_level}, {}}};
  make_stored_products(model, weight, product);
  return out.bytes();
}

}  // namespace

const WeightForm kMatMulNBitsForm = {Emit::kMatMulNBits, problem, opset, write};

}  // namespace mlopt::quantize
