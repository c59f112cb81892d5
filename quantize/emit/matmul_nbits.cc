// MatMul(A, W) -> com.microsoft.MatMulNBits(A, codes, scales, zero points, bias), the weights transposed to outputs by
// inputs: codes [N][groups][bytes], the first of a byte in its low bits; zero points of a row packed likewise.
#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "quantize/emit/packed_rows.h"
#include "quantize/emit/stored_product.h"
#include "quantize/emit/weight_forms.h"
#include "quantize/emit/weight_writer.h"

namespace mlopt::quantize {
namespace {

constexpr int64_t kLeastBlock = 16, kMostBlock = 256;
constexpr int64_t kMostPadding = 2;  // of a row's numbers, unless the form was asked for: more eats the gain

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
  const int64_t filled = (weight.columns + block - 1) / block * block;
  if (spec.emit != Emit::kMatMulNBits && filled > kMostPadding * weight.columns)
    return fmt::format("MatMulNBits would store {} numbers for {}", filled, weight.columns);
  return stored_product_problem(weight);
}

int64_t opset(const Weight&, const Spec&) { return 1; }

int64_t write(Model& model, const Weight& weight, const Coded& coded, const Spec& spec) {
  constexpr int kBias = 5;
  const int64_t n = coded.rows, block = block_of(spec.weights.group, coded.columns), groups = coded.groups();
  const int64_t block_bytes = block * coded.bits / 8;
  WeightWriter out(weight);
  StoredProduct product;
  product.op = "MatMulNBits";
  product.bias_at = kBias;
  product.stored = {
      out.constant("codes", packed_rows(coded.codes, coded.columns, coded.bits, {n, groups, block_bytes})),
      out.constant("scale", Tensor::of<float>({n, groups}, coded.scale))};
  if (!spec.scheme().symmetric) {
    const int64_t in_byte = 8 / coded.bits;
    product.stored.push_back(
        out.constant("zero_point", packed_rows(coded.zero, groups, coded.bits, {n, (groups + in_byte - 1) / in_byte})));
  }
  product.attrs = {{"K", coded.columns, {}},
                   {"N", n, {}},
                   {"bits", static_cast<int64_t>(coded.bits), {}},
                   {"block_size", block, {}},
                   {"accuracy_level", int64_t{spec.rounding_level()}, {}}};
  make_stored_products(model, weight, product);
  return out.bytes();
}

}  // namespace

const WeightForm kMatMulNBitsForm = {Emit::kMatMulNBits, problem, opset, write};

}  // namespace mlopt::quantize
