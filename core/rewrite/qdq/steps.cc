#include "core/rewrite/qdq/steps.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/tensor/cast.h"

namespace mlopt::qdq {
namespace {

bool is_bytes(DType type) { return type == DType::kU8 || type == DType::kI8; }

bool is(const Node* node, std::string_view op) {
  return node && node->op == op && (node->domain.empty() || node->domain == "com.microsoft");
}

Value* zero_point(Value* given, DType type, const Tensor& scale, Builder& builder) {
  return given ? given : builder.constant("zero_point", Tensor::zeros(type, scale.dims()));
}

/// Constant steps in inputs 1 and 2 of a DequantizeLinear or QuantizeLinear; numbers are null.
std::optional<Stored> steps_of(Node* node, DType type, Builder& builder) {
  Value *scale = node->input(1), *zero = node->input(2);
  const Tensor* scales = scale ? scale->known_constant() : nullptr;
  const Tensor* zeros = zero ? zero->known_constant() : nullptr;
  if (!scales || scales->dtype() != DType::kF32 || scales->size() == 0 || scales->rank() > 1) return std::nullopt;
  if (zero && (!zeros || zeros->dims() != scales->dims())) return std::nullopt;
  if (zeros) type = zeros->dtype();
  if (!is_bytes(type)) return std::nullopt;
  return Stored{nullptr, scale, zero_point(zero, type, *scales, builder), type};
}

}  // namespace

std::optional<Stored> stored(Value* value, Builder& builder, int axis) {
  Node* node = value ? value->producer : nullptr;
  if (!is(node, "DequantizeLinear") || !node->input(0)) return std::nullopt;
  const NodeView view = builder.view(*node);
  if (view.get_int("block_size", 0) != 0) return std::nullopt;
  auto s = steps_of(node, node->input(0)->type.dtype, builder);
  if (!s) return std::nullopt;
  s->numbers = node->input(0);
  if (s->has_one_scale()) return s;
  const Tensor* numbers = s->numbers->known_constant();
  if (axis < 0 || !numbers || axis >= numbers->rank()) return std::nullopt;
  const int64_t own = view.get_int("axis", 1);
  if ((own < 0 ? own + numbers->rank() : own) != axis || s->scales().size() != numbers->dim(axis)) return std::nullopt;
  return s;
}

std::optional<Stored> stored_by(Node* quantize, Builder& builder) {
  const NodeView view = builder.view(*quantize);
  if (view.get_int("block_size", 0) != 0) return std::nullopt;
  const auto asked = static_cast<DType>(view.get_int("output_dtype", 0));
  const auto s = steps_of(quantize, asked == DType::kUndefined ? DType::kU8 : asked, builder);
  return s && s->has_one_scale() ? s : std::nullopt;
}

bool same_steps(const Stored& a, const Stored& b) {
  return a.type == b.type && to_floats(a.scales()) == to_floats(b.scales()) &&
         to_ints(*a.zero->known_constant()) == to_ints(*b.zero->known_constant());
}

bool absorbs(const Stored& output, const Node* activation, const Builder& builder) {
  if (!activation) return true;
  const double scale = number_at(output.scales(), 0), zero = number_at(*output.zero->known_constant(), 0);
  const bool is_signed = output.type == DType::kI8;
  const double lowest = ((is_signed ? -128 : 0) - zero) * scale, highest = ((is_signed ? 127 : 255) - zero) * scale;
  if (activation->op == "Relu") return lowest >= 0;
  const NodeView view = builder.view(*activation);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto low = view.number("min", 1, -kInfinity), high = view.number("max", 2, kInfinity);
  // Half a step beyond a limit rounds to the same step.
  return low && high && lowest >= *low - scale / 2 && highest <= *high + scale / 2;
}

bool is_quantized(const Node& op, const Node& activation, Builder& builder) {
  if (!op.input(0) || !is(op.input(0)->producer, "DequantizeLinear")) return false;
  if (!activation.is("Relu") && !activation.is("Clip")) return false;
  const auto& uses = activation.output(0)->uses;
  return std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
    const auto output = is(use.node, "QuantizeLinear") ? stored_by(use.node, builder) : std::nullopt;
    return output && absorbs(*output, &activation, builder);
  });
}

std::optional<Tensor> bias_steps(const Value* bias, const Stored& input, const Stored& weights) {
  const Tensor* numbers = bias->known_constant();
  std::vector<double> scales{1}, zeros{0};
  if (is(bias->producer, "DequantizeLinear")) {
    const Node* node = bias->producer;
    const Tensor* scale = node->input(1) ? node->input(1)->known_constant() : nullptr;
    numbers = node->input(0) ? node->input(0)->known_constant() : nullptr;
    if (!scale || scale->rank() > 1) return std::nullopt;
    scales = to_doubles(*scale);
    if (const Value* zero = node->input(2)) {
      if (!zero->known_constant()) return std::nullopt;
      zeros = to_doubles(*zero->known_constant());
    }
  }
  if (!numbers || numbers->rank() > 1) return std::nullopt;
  const auto pick = [](const std::vector<double>& v, size_t i) { return v.size() == 1 ? v[0] : v.at(i); };
  const std::vector<double> values = to_doubles(*numbers), weight_scales = to_doubles(weights.scales());
  const auto fits = [&](const std::vector<double>& v) { return v.size() == 1 || v.size() == values.size(); };
  if (!fits(scales) || !fits(zeros) || !fits(weight_scales)) return std::nullopt;
  Tensor out(DType::kI32, numbers->dims());
  for (size_t i = 0; i < values.size(); ++i) {
    const double real = (values[i] - pick(zeros, i)) * pick(scales, i);
    const double steps = std::nearbyint(real / (number_at(input.scales(), 0) * pick(weight_scales, i)));
    if (!(std::abs(steps) < 0x1p31)) return std::nullopt;
    out.mutable_data<int32_t>()[i] = static_cast<int32_t>(steps);
  }
  return out;
}

bool is_float8(DType type) { return type == DType::kF8E4M3FN || type == DType::kF8E5M2; }

bool is_plain_product(const NodeView& product) {
  return product.get_float("alpha", 1) == 1 && product.get_float("beta", 1) == 1 && product.get_int("transA", 0) == 0;
}

bool is_row(const Value& bias, int64_t n) {
  const auto dims = bias.type.static_dims();
  return bias.type.dtype == DType::kF32 && dims && *dims == Dims{n};
}

Value* other_op(const Match& match, const Node& like, Builder& builder, std::string op, std::vector<Value*> inputs,
                std::vector<Attr> attrs, std::string domain) {
  const std::string hint = match.root->output(0)->name + "_" + op;
  Node* node = builder.node(std::move(op), std::move(inputs), std::move(attrs), hint, 1, std::move(domain));
  node->name = like.name;
  return node->output(0);
}

}  // namespace mlopt::qdq
