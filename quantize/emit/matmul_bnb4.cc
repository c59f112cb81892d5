// MatMul(A, W) -> com.microsoft.MatMulBnb4(A, codes, scales): the weights transposed to outputs by inputs, flattened,
// the first code of a byte in its high bits.
#include <fmt/core.h>

#include <array>
#include <bit>

#include "core/base/parallel.h"
#include "quantize/emit/stored_product.h"
#include "quantize/emit/weight_forms.h"
#include "quantize/emit/weight_writer.h"

namespace mlopt::quantize {
namespace {

constexpr int64_t kLeastBlock = 16, kMostBlock = 256;

int64_t block_of(int64_t group, int64_t columns) { return group > 0 && group < columns ? group : columns; }

std::string problem(const Weight& weight, const Spec& spec) {
  const WeightFormat& format = spec.weights;
  if (format.family != Family::kNF4 && format.family != Family::kFP4) return "MatMulBnb4 has nf4 and fp4 alone";
  if (spec.per_tensor) return "MatMulBnb4 has a scale for each group";
  const int64_t block = block_of(format.group, weight.columns);
  if (block < kLeastBlock || block > kMostBlock || std::popcount(static_cast<uint64_t>(block)) != 1)
    return fmt::format("MatMulBnb4 has groups of 16, 32, 64, 128 or 256, not {}", block);
  if (weight.columns % block != 0)
    return fmt::format("groups of {} would run across the {} inputs of an output", block, weight.columns);
  return stored_product_problem(weight);
}

int64_t opset(const Weight&, const Spec&) { return 1; }

/// The code of bitsandbytes for each that ascends: nf4's ascend too, fp4's are a sign and a place in a list.
uint8_t code_of(Family family, size_t ascending) {
  constexpr uint8_t kFP4[] = {11, 10, 13, 12, 15, 14, 9, 0, 1, 6, 7, 4, 5, 2, 3, 3};
  return family == Family::kNF4 ? static_cast<uint8_t>(ascending) : kFP4[ascending];
}

int64_t write(Model& model, const Weight& weight, const Coded& coded, const Spec& spec) {
  // Two codes of a byte at a time.
  std::array<uint8_t, 256> pairs;
  for (size_t i = 0; i < pairs.size(); ++i)
    pairs[i] = static_cast<uint8_t>(code_of(spec.weights.family, i >> 4) << 4 | code_of(spec.weights.family, i & 15));
  const std::vector<uint8_t>& codes = coded.codes;
  Tensor bytes(DType::kU8, {(std::ssize(codes) + 1) / 2});
  auto* to = bytes.mutable_data<uint8_t>();
  parallel_for(std::ssize(codes) / 2, int64_t{1} << 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto k = static_cast<size_t>(2 * i);
      to[i] = pairs[static_cast<size_t>(codes[k] << 4 | codes[k + 1])];
    }
  });
  if (codes.size() % 2 != 0)
    to[codes.size() / 2] = static_cast<uint8_t>(code_of(spec.weights.family, codes.back()) << 4);
  WeightWriter out(weight);
  StoredProduct product;
  product.op = "MatMulBnb4";
  product.stored = {out.constant("codes", std::move(bytes)),
                    out.constant("scale", Tensor::of<float>({static_cast<int64_t>(coded.scale.size())}, coded.scale))};
  product.attrs = {{"K", coded.columns, {}},
                   {"N", coded.rows, {}},
                   {"block_size", coded.group, {}},
                   {"quant_type", int64_t{spec.weights.family == Family::kNF4}, {}}};
  make_stored_products(model, weight, product);
  return out.bytes();
}

}  // namespace

const WeightForm kMatMulBnb4Form = {Emit::kMatMulBnb4, problem, opset, write};

}  // namespace mlopt::quantize
