// com.microsoft's Gelu, BiasGelu, FastGelu and QuickGelu -> Gelu of the standard, or what it is made of, behind the sum
// with the bias: other runtimes, `quantize` and `prune` know these.
#include "core/tensor/cast.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

/// Operators of numbers and of values of one type.
struct Writer {
  Builder& builder;
  Type type;

  Value* number(double x) {
    return builder.constant("number", cast(Tensor::scalar(static_cast<float>(x)), type.dtype));
  }
  Value* op(const char* name, std::vector<Value*> inputs) { return builder.op(name, std::move(inputs), {}, type); }
};

Value* gelu(Writer& w, Value* x) {
  constexpr double kRootOfTwo = 1.4142135623730951;
  Value* error = w.op("Erf", {w.op("Div", {x, w.number(kRootOfTwo)})});
  return w.op("Mul", {w.op("Mul", {x, w.op("Add", {error, w.number(1)})}), w.number(0.5)});
}

Value* gelu_by_tanh(Writer& w, Value* x) {
  constexpr double kRootOfTwoByPi = 0.7978845608028654, kCubic = 0.044715;
  Value* square = w.op("Mul", {x, x});
  Value* factor = w.op("Add", {w.op("Mul", {square, w.number(kRootOfTwoByPi * kCubic)}), w.number(kRootOfTwoByPi)});
  Value* bent = w.op("Tanh", {w.op("Mul", {x, factor})});
  return w.op("Mul", {w.op("Mul", {x, w.op("Add", {bent, w.number(1)})}), w.number(0.5)});
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  constexpr int64_t kErf = 9, kGelu = 20;
  Value *x = m.root->input(0), *bias = m.root->input(1);
  if (builder.target == Target::kOrt) return Decline{"ONNX Runtime has it"};
  if (!builder.has(kErf)) return Decline{"there is no Erf before opset 9"};
  if (!x || (x->type.dtype != DType::kF32 && x->type.dtype != DType::kF16)) return Decline{"it is not of known floats"};
  Writer w{builder, x->type};
  if (m.root->op == "QuickGelu") {
    const double alpha = static_cast<double>(builder.view(*m.root).get_float("alpha", 1.702f));
    Value* inner = alpha == 1 ? x : w.op("Mul", {x, w.number(alpha)});
    return Replacement{w.op("Mul", {x, w.op("Sigmoid", {inner})})};
  }
  if (bias) x = w.op("Add", {x, bias});
  const bool by_tanh = m.root->op == "FastGelu";
  if (builder.has(kGelu))
    return Replacement{builder.op("Gelu", {x}, {{"approximate", by_tanh ? "tanh" : "none", ""}}, w.type)};
  return Replacement{by_tanh ? gelu_by_tanh(w, x) : gelu(w, x)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Gelu|BiasGelu|FastGelu|QuickGelu", {}).open().domain("com.microsoft"), rewrite}};
}

}  // namespace

const Pass split_contrib_gelu = {"split_contrib_gelu",
                                 "com.microsoft's GELUs as the standard has them (not with --target ort)", rules};

}  // namespace mlopt::graphopt
