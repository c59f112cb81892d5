// Integers of 4 and 2 bits between QuantizeLinear and DequantizeLinear as bytes, for which there are kernels:
// DequantizeLinear(QuantizeLinear(x)) -> DequantizeLinear(QuantizeLinear(Clip(x))), DequantizeLinear(w) of stored w.
#include "backends/cpu/prepare/prepare.h"
#include "core/tensor/cast.h"

namespace mlopt::cpu {
namespace {

bool is_narrow(DType type) { return is_integer(type) && is_sub_byte(type); }

DType widened(DType type) { return is_signed(type) ? DType::kI8 : DType::kU8; }

/// The node's scale and, as bytes, its zero point: constants of one shape, in units of `type`.
struct Steps {
  Value *scale = nullptr, *zero = nullptr;
  const Tensor *scales = nullptr, *zeros = nullptr;
};

Expected<Steps> steps_of(const Node& node, DType type, Builder& builder) {
  Steps s;
  s.scale = node.input(1);
  s.scales = s.scale->known_constant();
  s.zeros = node.input(2) ? node.input(2)->known_constant() : nullptr;
  if (!s.scales || s.scales->dtype() != DType::kF32 || s.scales->rank() > 1 || (node.input(2) && !s.zeros))
    return Decline{"its steps are not constant float32"};
  if (builder.view(node).get_int("block_size", 0) != 0) return Decline{"its steps are those of blocks"};
  s.zero = builder.constant("zero_point", s.zeros ? unpack(*s.zeros) : Tensor::zeros(widened(type), s.scales->dims()));
  return s;
}

std::vector<Attr> axis_of(const Node& node) {
  const Attr* axis = node.attr("axis");
  return axis ? std::vector<Attr>{*axis} : std::vector<Attr>{};
}

/// What bytes would hold of x beyond the narrow type is cut off before: at a limit, x / scale is that number.
Value* clipped(Value* x, DType type, const Steps& s, Builder& builder) {
  const int count = 1 << bits(type), least = is_signed(type) ? -count / 2 : 0;
  const auto scale = static_cast<float>(number_at(*s.scales, 0));
  const auto zero = s.zeros ? static_cast<int>(number_at(*s.zeros, 0)) : 0;
  Value* low = builder.constant("low", Tensor::scalar(static_cast<float>(least - zero) * scale));
  Value* high = builder.constant("high", Tensor::scalar(static_cast<float>(least + count - 1 - zero) * scale));
  return builder.op("Clip", {x, low, high}, {}, x->type);
}

Expected<Replacement> activation(const Match& m, Builder& builder) {
  const Node* quantize = m.node("quantize");
  const DType type = quantize->output(0)->type.dtype;
  Value* x = m.value("x");
  if (!is_narrow(type)) return Decline{"its integers are bytes already"};
  if (x->type.dtype != DType::kF32) return Decline{"not from float32"};
  const auto in = steps_of(*quantize, type, builder), out = steps_of(*m.root, type, builder);
  if (!in) return in.error();
  if (!out) return out.error();
  if (in->scales->size() != 1 || out->scales->size() != 1) return Decline{"it has steps for each channel"};
  Type bytes_type = x->type;
  bytes_type.dtype = widened(type);
  Value* bytes = builder.op("QuantizeLinear", {clipped(x, type, *in, builder), in->scale, in->zero}, {}, bytes_type);
  return Replacement{builder.op("DequantizeLinear", {bytes, out->scale, out->zero}, {}, x->type)};
}

Expected<Replacement> weight(const Match& m, Builder& builder) {
  const Tensor& stored = m.constant("w");
  if (!is_narrow(stored.dtype())) return Decline{"its integers are bytes already"};
  const auto steps = steps_of(*m.root, stored.dtype(), builder);
  if (!steps) return steps.error();
  Value* bytes = builder.constant(m.value("w")->name, unpack(stored));
  return Replacement{
      builder.op("DequantizeLinear", {bytes, steps->scale, steps->zero}, axis_of(*m.root), m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  Pattern quantize = Pattern::op("QuantizeLinear", {Pattern::any("x")}).open().as("quantize");
  return {{Pattern::op("DequantizeLinear", {std::move(quantize)}).open(), activation},
          {Pattern::op("DequantizeLinear", {Pattern::constant("w")}).open(), weight}};
}

}  // namespace

const Pass widen_codes = {"widen_codes", "integers of 4 and 2 bits as bytes", rules};

}  // namespace mlopt::cpu
