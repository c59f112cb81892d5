// QONNX: Quant(x, scale, zero point, bits) -> (Round(Clip(x / scale + zero, low, high)) - zero) * scale, and
// BipolarQuant(x, scale) -> scale or -scale: what they compute, by standard operators (Pappalardo et al. 2022, "QONNX:
// Representing Arbitrary-Precision Quantized Neural Networks"). Of constants they become constants; activations of few
// bits are the activation function of such networks, so that they stay rounded.
#include <cmath>

#include "core/tensor/cast.h"
#include "quantize/restore/passes.h"

namespace mlopt::quantize {
namespace {

constexpr int64_t kRoundOpset = 11;

/// Name in the attribute and operator.
const char* rounding_of(std::string_view mode) {
  return mode == "ROUND" || mode == "HALF_EVEN" ? "Round"
         : mode == "FLOOR"                      ? "Floor"
         : mode == "CEIL"                       ? "Ceil"
                                                : nullptr;
}

bool is_zero(const Tensor& t) {
  for (const double x : to_doubles(t))
    if (x != 0) return false;
  return true;
}

Expected<Replacement> quant(const Match& m, Builder& b) {
  const Node& node = *m.root;
  const NodeView view = b.view(node);
  Value *x = node.input(0), *scale = node.input(1), *zero = node.input(2);
  const Tensor* bits = node.input(3) ? node.input(3)->known_constant() : nullptr;
  if (!scale || !zero || !bits || bits->size() != 1) return Decline{"its width is not one constant"};
  const char* round = rounding_of(view.get_string("rounding_mode", "ROUND"));
  if (!round) return Decline{"it rounds in a way of its own"};
  if (b.opset() < kRoundOpset) return Decline{"the opset has no Round"};
  const bool is_signed = view.get_int("signed", 1) != 0, narrow = view.get_int("narrow", 0) != 0;
  const double codes = std::exp2(number_at(*bits, 0));
  const double high = (is_signed ? codes / 2 : codes) - 1 - (narrow && !is_signed ? 1 : 0);
  const double low = is_signed ? -codes / 2 + (narrow ? 1 : 0) : 0;
  const auto number = [&](double n) { return b.constant("limit", Tensor::scalar(static_cast<float>(n))); };
  const bool shifted = !zero->known_constant() || !is_zero(*zero->known_constant());
  Value* y = b.op("Div", {x, scale});
  if (shifted) y = b.op("Add", {y, zero});
  y = b.op(round, {b.op("Clip", {y, number(low), number(high)})});
  if (shifted) y = b.op("Sub", {y, zero});
  return Replacement{b.op("Mul", {y, scale})};
}

Expected<Replacement> bipolar(const Match& m, Builder& b) {
  const Node& node = *m.root;
  if (!node.input(1)) return Decline{"it has no scale"};
  Value* below = b.op("Less", {node.input(0), b.constant("zero", Tensor::scalar(0.0F))});
  return Replacement{b.op("Where", {below, b.op("Neg", {node.input(1)}), node.input(1)})};
}

std::vector<Rule> rules() {
  std::vector<Rule> all;
  for (const char* domain : {"qonnx.custom_op.general", "onnx.brevitas", "finn.custom_op.general"}) {
    const auto pattern = [&](std::string_view op) {
      return Pattern::op(op, {Pattern::any("x")}).open().domain(domain);
    };
    all.push_back({pattern("Quant"), quant});
    all.push_back({pattern("BipolarQuant"), bipolar});
  }
  return all;
}

}  // namespace

const Pass restore_qonnx = {"restore_qonnx", "QONNX's Quant and BipolarQuant by standard operators", rules};

}  // namespace mlopt::quantize
