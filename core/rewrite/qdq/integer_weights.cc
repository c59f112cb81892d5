// MatMul or Gemm (x, DequantizeLinear of constant integers) -> com.microsoft.MatMulNBits(x, codes, scales, zero
// points), for devices that have kernels for it: the weights are stored in as few bits as their codes need, and a block
// is what shares a scale.
#include <algorithm>
#include <optional>

#include "core/base/align.h"
#include "core/base/parallel.h"
#include "core/rewrite/qdq/passes.h"
#include "core/rewrite/qdq/steps.h"
#include "core/tensor/cast.h"

namespace mlopt::qdq {
namespace {

constexpr int64_t kLeast = 1 << 14;  // numbers: less are read as fast as floats
constexpr int kWordBits = 32;

/// Codes [n, k], or [k, n] where the inner axis is the first.
struct Codes {
  Tensor bytes;  ///< int8 or uint8
  int inner;     ///< axis of k
  int least = 0, bits = 8;

  int64_t n() const { return bytes.dim(1 - inner); }
  int64_t k() const { return bytes.dim(inner); }
  bool is_signed() const { return bytes.dtype() == DType::kI8; }
  int at(int64_t i) const { return is_signed() ? bytes.data<int8_t>()[i] : bytes.data<uint8_t>()[i]; }
  int code(int64_t row, int64_t column) const {
    return at(inner == 1 ? row * k() + column : column * n() + row) - least;
  }
};

/// The codes as numbers from 0 on, of as few bits as they need around the middle of their type.
std::optional<Codes> codes_of(const Tensor& stored, int inner) {
  if (stored.rank() != 2 || stored.size() < kLeast || !is_integer(stored.dtype()) || bits(stored.dtype()) > 8)
    return std::nullopt;
  Codes c{is_sub_byte(stored.dtype()) ? unpack(stored) : stored.aligned(), inner};
  int low = c.at(0), high = c.at(0);
  for (int64_t i = 0; i < c.bytes.size(); ++i) low = std::min(low, c.at(i)), high = std::max(high, c.at(i));
  for (const int bits : {2, 4, 8}) {
    const int least = c.is_signed() ? -(1 << (bits - 1)) : 0;
    if (low < least || high >= least + (1 << bits)) continue;
    c.least = least, c.bits = bits;
    break;
  }
  return c;
}

/// Scales or zero points of one number, one for each row, or one for each block of a row, as [n, blocks].
struct Steps {
  int64_t block;  ///< numbers of the inner axis that share a step
  bool turned;    ///< [blocks, n]
};

Expected<Steps> steps_of(const NodeView& view, const Codes& c, const Tensor& scales) {
  const int64_t given = view.get_int("axis", 1), axis = given < 0 ? given + 2 : given;
  const int64_t block = view.get_int("block_size", 0);
  if (block == 0) {
    const bool by_row = scales.rank() == 1 && scales.size() == c.n() && axis == 1 - c.inner;
    if (scales.size() != 1 && !by_row) return Decline{"its scales are those of another axis"};
    return Steps{round_up(c.k(), kWordBits), false};
  }
  const int64_t blocks = (c.k() + block - 1) / block;
  const Dims dims = c.inner == 1 ? Dims{c.n(), blocks} : Dims{blocks, c.n()};
  if (axis != c.inner || scales.dims() != dims || block % kWordBits != 0)
    return Decline{"its blocks are not those of the inner axis, or of odd sizes"};
  return Steps{block, c.inner == 0};
}

Tensor packed(const Codes& c, int64_t block) {
  const int64_t blocks = (c.k() + block - 1) / block, row = blocks * block * c.bits / 8, in_byte = 8 / c.bits;
  Tensor out = Tensor::zeros(DType::kU8, {c.n(), blocks, block * c.bits / 8});
  auto* bytes = out.mutable_data<uint8_t>();
  parallel_for(c.n(), 16, [&](int64_t begin, int64_t end) {
    for (int64_t k = 0; k < c.k(); ++k)
      for (int64_t r = begin; r < end; ++r) {
        uint8_t& byte = bytes[r * row + k / in_byte];
        byte = static_cast<uint8_t>(byte | c.code(r, k) << (k % in_byte * c.bits));
      }
  });
  return out;
}

/// [n, blocks] of what is given; `minus` less.
Tensor spread(const Tensor& given, int64_t n, int64_t blocks, bool turned, int minus) {
  const std::vector<float> numbers = to_floats(given);
  Tensor out(DType::kF32, {n, blocks});
  for (int64_t i = 0; i < out.size(); ++i) {
    const int64_t r = i / blocks, b = i % blocks, at = turned ? b * n + r : numbers.size() == 1 ? 0 : i;
    out.mutable_data<float>()[i] = numbers[static_cast<size_t>(at)] - static_cast<float>(minus);
  }
  return out;
}

/// The codes, scales and zero points of MatMulNBits, and its attributes.
struct Made {
  std::vector<Value*> inputs;
  std::vector<Attr> attrs;
};

Expected<Made> made_of(const Node& dequantize, int inner, Builder& builder) {
  const NodeView view = builder.view(dequantize);
  const Tensor *stored = view.constant(0), *scales = view.constant(1), *zeros = view.constant(2);
  if (!stored || !scales || (dequantize.input(2) && !zeros)) return Decline{"its weights are not constant"};
  if (scales->dtype() != DType::kF32 || view.has("output_dtype")) return Decline{"its scales are not float32"};
  const auto codes = codes_of(*stored, inner);
  if (!codes) return Decline{"its weights are few, or no matrix of small integers"};
  const auto steps = steps_of(view, *codes, *scales);
  if (!steps) return steps.error();
  if (zeros && zeros->dims() != scales->dims()) return Decline{"its zero points are not one for each scale"};
  const int64_t n = codes->n(), blocks = (codes->k() + steps->block - 1) / steps->block;
  const std::string& name = dequantize.input(0)->name;
  const Tensor zero = zeros ? *zeros : Tensor::zeros(DType::kF32, scales->dims());
  return Made{
      {builder.constant(name + "_codes", packed(*codes, steps->block)),
       builder.constant(name + "_scales", spread(*scales, n, blocks, steps->turned, 0)),
       builder.constant(name + "_zeros", spread(zero, n, blocks, steps->turned, codes->least))},
      {{"N", n, {}}, {"K", codes->k(), {}}, {"bits", int64_t{codes->bits}, {}}, {"block_size", steps->block, {}}}};
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node& product = *m.root;
  const NodeView view = builder.view(product);
  Value *x = product.input(0), *bias = product.input(2);
  if (!is_plain_product(view)) return Decline{"it scales or transposes its operands"};
  if (x->type.dtype != DType::kF32 || !x->type.dims || x->type.dims->size() < 2) return Decline{"no rows of float32"};
  if (x->producer && x->producer->is("DequantizeLinear")) return Decline{"both operands are integers"};
  const Node* turn = product.input(1)->producer->is("Transpose") ? product.input(1)->producer : nullptr;
  if (turn && builder.view(*turn).get_ints("perm", {1, 0}) != std::vector<int64_t>{1, 0})
    return Decline{"its weights are not transposed"};
  const bool turned = turn || view.get_int("transB", 0) != 0;
  auto made = made_of(*m.node("dequantize"), turned ? 1 : 0, builder);
  if (!made) return made.error();
  std::vector<Value*>& inputs = made->inputs;
  inputs.insert(inputs.begin(), x);
  if (bias) {
    const auto dims = bias->type.static_dims();
    const int64_t n = std::get<int64_t>(made->attrs.front().value);
    if (bias->type.dtype != DType::kF32 || !dims || (*dims != Dims{n} && *dims != Dims{1, n}))
      return Decline{"its bias is no row"};
    inputs.insert(inputs.end(), {nullptr, bias});
  }
  return Replacement{other_op(m, product, builder, "MatMulNBits", std::move(inputs), std::move(made->attrs))};
}

std::vector<Rule> rules() {
  const auto stored = [] { return Pattern::op("DequantizeLinear", {Pattern::any("")}).open().as("dequantize"); };
  const auto turn = [&] { return Pattern::op("Transpose", {stored()}).open(); };
  return {{Pattern::op("MatMul", {Pattern::any("x"), stored()}), rewrite},
          {Pattern::op("MatMul", {Pattern::any("x"), turn()}), rewrite},
          {Pattern::op("Gemm", {Pattern::any("x"), stored()}).open(), rewrite}};
}

}  // namespace

const Pass integer_weights = {"qdq_integer_weights", "products by DequantizeLinear of integers on these", rules};

}  // namespace mlopt::qdq
