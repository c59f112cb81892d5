// com.microsoft's products by weights of a few bits in blocks, as MatMul by floats, for which there are kernels:
// MatMulNBits(x, w, scales, zero points, , b) -> Add(MatMul(x, W), b), MatMulBnb4(x, w, scales) -> MatMul(x, W).
#include <array>

#include "core/base/parallel.h"
#include "core/rewrite/qdq/passes.h"
#include "core/rewrite/qdq/steps.h"
#include "core/tensor/cast.h"
#include "core/tensor/codes.h"

namespace mlopt::qdq {
namespace {

constexpr const char* kMicrosoft = "com.microsoft";
constexpr int kByte = 8;

/// What the attributes say of the stored matrix.
struct Blocks {
  int64_t n, k, size, count;  ///< outputs, inputs, inputs of a block, blocks of an output
  int bits;

  int64_t row_bytes(int64_t codes) const { return (codes * bits + kByte - 1) / kByte; }
};

/// [k, n] of (row, column) of the stored [n, k].
template <class At>
Tensor columns_of(int64_t n, int64_t k, const At& at) {
  Tensor out(DType::kF32, {k, n});
  auto* numbers = out.mutable_data<float>();
  parallel_for(n, 16, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      for (int64_t c = 0; c < k; ++c) numbers[c * n + r] = at(r, c);
  });
  return out;
}

/// The product by floats, and the bias where there is one. For our own kernels, which choose by the number of rows,
/// products by codes whose attributes are given keep these beside.
Replacement product(const Match& m, Builder& builder, Tensor weights, Value* bias, std::vector<Attr> codes = {}) {
  const Node& node = *m.root;
  Value* w = builder.constant(node.input(1)->name, std::move(weights));
  const Type& type = node.output(0)->type;
  std::vector<Value*> inputs{node.input(0), w};
  Value* y = nullptr;
  if (builder.target == Target::kKernels && !codes.empty()) {
    for (int i = 1; i < 4; ++i) inputs.push_back(node.input(i));
    y = other_op(m, node, builder, "BlockMatMul", std::move(inputs), std::move(codes), "mlopt");
    y->type = type;
  } else {
    y = builder.op("MatMul", std::move(inputs), {}, type);
  }
  return {bias ? builder.op("Add", {y, bias}, {}, type) : y};
}

Expected<Replacement> uniform(const Match& m, Builder& builder) {
  const Node& node = *m.root;
  const NodeView view = builder.view(node);
  Blocks b{view.get_int("N", 0), view.get_int("K", 0), view.get_int("block_size", 0), 0,
           static_cast<int>(view.get_int("bits", 4))};
  const bool known = b.bits == 2 || b.bits == 4 || b.bits == kByte;
  if (b.n <= 0 || b.k <= 0 || b.size <= 0 || b.size % kByte != 0 || !known) return Decline{"its attributes are odd"};
  if (node.input(4)) return Decline{"its rows name their blocks"};
  b.count = (b.k + b.size - 1) / b.size;
  const Tensor *codes = view.constant(1), *scales = view.constant(2), *zeros = view.constant(3);
  if (!codes || !scales || (node.input(3) && !zeros)) return Decline{"its weights are not constant"};
  if (node.input(0)->type.dtype != DType::kF32 || scales->dtype() != DType::kF32 || codes->dtype() != DType::kU8 ||
      (zeros && zeros->dtype() != DType::kU8))
    return Decline{"it is not of float32 with packed zero points"};
  const int64_t row = b.row_bytes(b.count * b.size), zero_row = b.row_bytes(b.count);
  if (codes->size() != b.n * row || scales->size() != b.n * b.count || (zeros && zeros->size() != b.n * zero_row))
    return Decline{"its weights have not the sizes that its attributes say"};
  const Tensor stored = codes->aligned(), steps = scales->aligned(), points = zeros ? zeros->aligned() : Tensor();
  const auto at = [&](int64_t r, int64_t c) {
    const int64_t block = c / b.size;
    const int zero = zeros ? code_at(points.data<uint8_t>() + r * zero_row, b.bits, block) : 1 << (b.bits - 1);
    const int code = code_at(stored.data<uint8_t>() + r * row, b.bits, c);
    return static_cast<float>(code - zero) * steps.data<float>()[r * b.count + block];
  };
  constexpr int64_t kWordBits = 32;
  std::vector<Attr> words;  // whole ones for each block
  if (b.size * b.bits % kWordBits == 0) words = {{"block_size", b.size, ""}, {"bits", int64_t{b.bits}, ""}};
  return product(m, builder, columns_of(b.n, b.k, at), node.input(5), std::move(words));
}

// From Dettmers and others, "QLoRA", 2023, and the FP4 format of bitsandbytes: a sign and a place in a list.
constexpr std::array<float, 16> kNF4 = {
    -1.0f,       -0.69619280f, -0.52507305f, -0.39491749f, -0.28444138f, -0.18477343f, -0.09105004f, 0.0f,
    0.07958030f, 0.16093020f,  0.24611230f,  0.33791524f,  0.44070983f,  0.56261700f,  0.72295684f,  1.0f};
constexpr std::array<float, 8> kFP4 = {0.0f, 5.208333e-03f, 0.66666667f, 1.0f, 0.33333333f, 0.5f, 0.16666667f, 0.25f};

float bnb4_value(int code, bool normal) {
  if (normal) return kNF4[static_cast<size_t>(code)];
  const float magnitude = kFP4[static_cast<size_t>(code % 8)];
  return code < 8 ? magnitude : -magnitude;
}

Expected<Replacement> bnb4(const Match& m, Builder& builder) {
  const NodeView view = builder.view(*m.root);
  const int64_t n = view.get_int("N", 0), k = view.get_int("K", 0), size = view.get_int("block_size", 0);
  const int64_t kind = view.get_int("quant_type", -1), count = n * k;
  const Tensor *codes = view.constant(1), *scales = view.constant(2);
  if (n <= 0 || k <= 0 || size <= 0 || (kind != 0 && kind != 1) || view.get_int("transB", 1) == 0)
    return Decline{"its attributes are odd"};
  if (!codes || !scales) return Decline{"its weights are not constant"};
  if (m.root->input(0)->type.dtype != DType::kF32 || scales->dtype() != DType::kF32 || codes->dtype() != DType::kU8)
    return Decline{"it is not of float32"};
  if (codes->size() != (count + 1) / 2 || scales->size() != (count + size - 1) / size)
    return Decline{"its weights have not the sizes that its attributes say"};
  const Tensor stored = codes->aligned(), steps = scales->aligned();
  const auto at = [&](int64_t r, int64_t c) {
    const int64_t i = r * k + c;
    const int byte = stored.data<uint8_t>()[i / 2];
    return bnb4_value(i % 2 == 0 ? byte >> 4 : byte & 15, kind == 1) * steps.data<float>()[i / size];
  };
  return product(m, builder, columns_of(n, k, at), nullptr);
}

std::vector<Rule> rules() {
  return {{Pattern::op("MatMulNBits", {Pattern::any("x")}).domain(kMicrosoft).open(), uniform},
          {Pattern::op("MatMulBnb4", {Pattern::any("x")}).domain(kMicrosoft).open(), bnb4}};
}

}  // namespace

const Pass widen_blocks = {"widen_blocks", "products by weights of a few bits as products by floats", rules};

}  // namespace mlopt::qdq
