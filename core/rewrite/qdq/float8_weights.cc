// MatMul or Gemm (x, DequantizeLinear of constant floats of 8 bits) -> MatMulNBits(x, floats of 8 bits), which is then
// no operator of com.microsoft's, whose codes are integers: for devices that unpack them in registers. Few rows only,
// known to be few: these wait for the weights alone, where more rows are better off with numbers that were made once.
#include "core/rewrite/qdq/passes.h"
#include "core/rewrite/qdq/steps.h"
#include "core/tensor/cast.h"

namespace mlopt::qdq {
namespace {

constexpr int64_t kMostRows = 16, kMostDepth = 65536, kLeast = 16;

/// So many scales of numbers that are 2^-8 (E4M3) or 2^-15 (E5M2) of what their codes are worth, so that half floats
/// hold the scales.
Tensor scales_of(const Tensor& given, int64_t count, DType type) {
  const std::vector<float> scales = to_floats(given);
  const float unit = type == DType::kF8E4M3FN ? 0x1p8f : 0x1p15f;
  Tensor made(DType::kF32, {count});
  for (int64_t i = 0; i < count; ++i)
    made.mutable_data<float>()[i] = unit * scales[scales.size() == 1 ? 0 : static_cast<size_t>(i)];
  return made;
}

int64_t rows_of(const Value& x, int64_t depth) {
  const auto dims = x.type.static_dims();
  return dims && dims->size() >= 2 && dims->back() == depth ? element_count(*dims) / depth : kMostRows + 1;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Node *product = m.root, *stored = product->input(1)->producer;
  const NodeView view = builder.view(*product), steps = builder.view(*stored);
  if (!is_plain_product(view)) return Decline{"it scales or transposes its operands"};
  Value* codes = stored->input(0);
  const Tensor *weights = codes->known_constant(), *scale = steps.constant(1);
  const DType type = codes->type.dtype;
  if (!weights || weights->rank() != 2 || !is_float8(type)) return Decline{"no constant floats of 8 bits"};
  const bool turned = view.get_int("transB", 0) != 0;
  const int64_t n = weights->dim(turned ? 0 : 1), k = weights->dim(turned ? 1 : 0);
  Value* x = product->input(0);
  if (x->type.dtype != DType::kF32 || n < kLeast || k < kLeast || k > kMostDepth || rows_of(*x, k) > kMostRows)
    return Decline{"not a few rows of float32"};
  const int64_t axis = steps.get_int("axis", 1), own = axis < 0 ? axis + 2 : axis;
  if (!scale || scale->dtype() != DType::kF32 || steps.get_int("block_size", 0) != 0 || steps.has("output_dtype") ||
      (scale->size() != 1 && (scale->size() != n || own != (turned ? 0 : 1))))
    return Decline{"its scales are not constant, or in blocks"};
  std::vector<Value*> inputs{x, codes, builder.constant(codes->name + "_scales", scales_of(*scale, n, type))};
  if (Value* bias = product->input(2)) {
    if (!is_row(*bias, n)) return Decline{"its bias is no row"};
    inputs.insert(inputs.end(), {nullptr, nullptr, bias});
  }
  std::vector<Attr> attrs{{"N", n, {}}, {"K", k, {}}, {"bits", int64_t{8}, {}}, {"transB", int64_t{turned}, {}}};
  return Replacement{other_op(m, *product, builder, "MatMulNBits", std::move(inputs), std::move(attrs))};
}

std::vector<Rule> rules() {
  const auto dequantized = [] { return Pattern::op("DequantizeLinear", {Pattern::any("")}).open(); };
  return {{Pattern::op("MatMul", {Pattern::any("x"), dequantized()}), rewrite},
          {Pattern::op("Gemm", {Pattern::any("x"), dequantized()}).open(), rewrite}};
}

}  // namespace

const Pass float8_weights = {"qdq_float8_weights", "few rows by DequantizeLinear of 8-bit floats on these", rules};

}  // namespace mlopt::qdq
