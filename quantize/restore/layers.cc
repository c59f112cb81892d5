// Layers of com.microsoft that hold weights in codes as the same layers by floats: DynamicQuantizeLSTM -> LSTM,
// QAttention -> Attention, QEmbedLayerNormalization -> EmbedLayerNormalization, GatherBlockQuantized -> Gather.
#include <algorithm>
#include <array>

#include "core/tensor/cast.h"
#include "quantize/restore/passes.h"

namespace mlopt::quantize {
namespace {

constexpr const char* kMicrosoft = "com.microsoft";

/// New values for all outputs of the node.
Replacement outputs_of(const Node& made, const Node& old) {
  const std::span<Value* const> all = made.outputs();
  return {all.begin(), all.begin() + std::ssize(old.outputs())};
}

/// Codes [directions, inputs, gates] with a scale for each direction or for each gate of it, as LSTM's
/// [directions, gates, inputs].
Expected<Value*> recurrent(const Node& node, int weights, int scales, Builder& builder) {
  const NodeView view = builder.view(node);
  const Tensor *codes = view.constant(weights), *scale = view.constant(scales), *zero = view.constant(scales + 1);
  if (!codes || !scale || (node.input(scales + 1) && !zero)) return Decline{"its weights are not constant"};
  if (codes->rank() != 3) return Decline{"its weights are not of three axes"};
  const int64_t directions = codes->dim(0), inputs = codes->dim(1), gates = codes->dim(2);
  const bool by_gate = scale->size() == directions * gates;
  if (inputs == 0 || (!by_gate && scale->size() != directions)) return Decline{"its scales are not of its gates"};
  const Dims steps = by_gate ? Dims{directions, 1, gates} : Dims{directions};
  const Tensor points = zero ? zero->reshaped(steps) : Tensor();
  const Tensor real =
      decoded(*codes, scale->reshaped(steps), zero ? &points : nullptr, by_gate ? 1 : 0, by_gate ? inputs : 0);
  if (real.dtype() != DType::kF32) return Decline{"its scales are not float32"};
  Tensor turned(DType::kF32, {directions, gates, inputs});
  const std::vector<float> from = to_floats(real);
  auto* to = turned.mutable_data<float>();
  for (int64_t d = 0; d < directions; ++d)
    for (int64_t i = 0; i < inputs; ++i)
      for (int64_t g = 0; g < gates; ++g)
        to[(d * gates + g) * inputs + i] = from[static_cast<size_t>((d * inputs + i) * gates + g)];
  return builder.constant(node.input(weights)->name + "_floats", std::move(turned));
}

Expected<Replacement> lstm(const Match& m, Builder& builder) {
  const Node& node = *m.root;
  std::vector<Value*> inputs;
  for (int i = 0; i < 8; ++i) inputs.push_back(node.input(i));
  for (const auto [weights, scales] : {std::array{1, 8}, std::array{2, 10}}) {
    const auto made = recurrent(node, weights, scales, builder);
    if (!made) return made.error();
    inputs[static_cast<size_t>(weights)] = *made;
  }
  const Node* made = builder.node("LSTM", std::move(inputs), node.attrs, node.name, 3);
  return outputs_of(*made, node);
}

/// QAttention(input, weights, bias, scale, scale, mask, zero point, zero point, past).
Expected<Replacement> attention(const Match& m, Builder& builder) {
  const Node& node = *m.root;
  const auto x = floats(node, {0, 3, 6}, -1, builder);
  if (!x) return x.error();
  const auto w = floats(node, {1, 4, 7}, 1, builder);
  if (!w) return w.error();
  const auto count = static_cast<int>(node.outputs().size());
  Value* y = builder.contrib("Attention", {*x, *w, node.input(2), node.input(5), node.input(8)}, node.attrs,
                             node.output(0)->type, count);
  return outputs_of(*y->producer, node);
}

/// Indices, tables and the scale and shift of the normalization; after the mask the scales of the five, then their zero
/// points.
Expected<Replacement> embeddings(const Match& m, Builder& builder) {
  constexpr int kFirst = 2, kLast = 6, kToScale = 6, kToZero = 11;
  const Node& node = *m.root;
  std::vector<Value*> inputs = {node.input(0), node.input(1)};
  for (int i = kFirst; i <= kLast; ++i) {
    inputs.push_back(nullptr);
    if (!node.input(i)) continue;  // no segments
    const auto made = floats(node, {i, i + kToScale, i + kToZero}, -1, builder);
    if (!made) return made.error();
    inputs.back() = *made;
  }
  inputs.push_back(node.input(kLast + 1));
  const auto count = static_cast<int>(node.outputs().size());
  Value* y = builder.contrib("EmbedLayerNormalization", std::move(inputs), node.attrs, node.output(0)->type, count);
  return outputs_of(*y->producer, node);
}

/// Codes of `bits` bits that lie packed along the last axis, the first of a byte in its low bits, as one byte each;
/// `columns` of them in a row.
Tensor unpacked(const Tensor& packed, int bits, int64_t columns) {
  const Tensor bytes = packed.aligned();
  const int64_t row_bytes = packed.dim(packed.rank() - 1), rows = packed.size() / row_bytes, in_byte = 8 / bits;
  Dims dims = packed.dims();
  dims.back() = columns;
  Tensor out(DType::kU8, dims);
  auto* to = out.mutable_data<uint8_t>();
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) {
      const int byte = bytes.data<uint8_t>()[r * row_bytes + c / in_byte];
      to[r * columns + c] = static_cast<uint8_t>(byte >> (c % in_byte * bits) & ((1 << bits) - 1));
    }
  return out;
}

/// Is there a zero point for each scale, `in_byte` of them beside each other in one along the last axis?
bool fits(const Tensor& zeros, const Tensor& scales, int64_t in_byte) {
  Dims dims = scales.dims();
  dims.back() = (dims.back() + in_byte - 1) / in_byte;
  return zeros.dims() == dims;
}

/// GatherBlockQuantized(codes, indices, scales, zero points).
Expected<Replacement> table(const Match& m, Builder& builder) {
  const Node& node = *m.root;
  const NodeView view = builder.view(node);
  const Tensor *codes = view.constant(0), *scales = view.constant(2), *zeros = view.constant(3);
  if (!codes || !scales || (node.input(3) && !zeros)) return Decline{"its table is not constant"};
  const int64_t rank = codes->rank(), block = view.get_int("block_size", 128), bits = view.get_int("bits", 4);
  const int64_t along = view.get_int("quantize_axis", 1), axis = along < 0 ? along + rank : along;
  const bool packed = codes->dtype() == DType::kU8, known = bits == 2 || bits == 4 || bits == 8;
  if (rank < 1 || codes->size() == 0 || scales->rank() != rank || axis < 0 || axis >= rank || block < 1 || !known)
    return Decline{"its attributes are odd"};
  Dims shape = codes->dims();
  if (packed) shape.back() *= 8 / bits;
  Dims steps = shape;
  steps[static_cast<size_t>(axis)] = (steps[static_cast<size_t>(axis)] + block - 1) / block;
  if (scales->dims() != steps) return Decline{"its scales do not fit its codes"};
  if (zeros && !fits(*zeros, *scales, packed ? 8 / bits : 1)) return Decline{"its zero points do not fit its scales"};
  Tensor wide = *codes, points = zeros ? *zeros : Tensor();
  if (packed) {
    wide = unpacked(*codes, static_cast<int>(bits), shape.back());
    if (zeros) points = unpacked(*zeros, static_cast<int>(bits), scales->dim(static_cast<int>(rank) - 1));
    if (!zeros)
      points = Tensor::of<uint8_t>(scales->dims(), std::vector<uint8_t>(static_cast<size_t>(scales->size()),
                                                                        static_cast<uint8_t>(1 << (bits - 1))));
  }
  const Tensor numbers = decoded(wide, *scales, packed || zeros ? &points : nullptr, axis, block);
  Value* floats = builder.constant(node.input(0)->name + "_floats", numbers);
  return Replacement{builder.op("Gather", {floats, node.input(1)}, {{"axis", view.get_int("gather_axis", 0), {}}},
                                node.output(0)->type)};
}

std::vector<Rule> rules() {
  const auto of = [](std::string_view op) { return Pattern::op(op, {Pattern::any("x")}).open().domain(kMicrosoft); };
  return {{of("DynamicQuantizeLSTM"), lstm},
          {of("QAttention"), attention},
          {of("QEmbedLayerNormalization"), embeddings},
          {of("GatherBlockQuantized"), table}};
}

}  // namespace

const Pass restore_layers = {"restore_layers", "layers that hold weights in codes as layers by floats", rules};

}  // namespace mlopt::quantize
