// com.microsoft.FusedConv and FusedGemm -> Conv and Gemm, with Add and the activation behind, FusedMatMul -> Transpose,
// MatMul and Mul: what ONNX Runtime, or `--target ort`, has joined becomes operators of the standard, which other
// runtimes, `quantize` and `prune` know.
#include <algorithm>
#include <numeric>

#include "core/ir/read_activation.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

/// Names of the parameters that the standard's operator has.
struct Parameters {
  std::string_view op;
  const char *first = nullptr, *second = nullptr;
};

constexpr Parameters kActivations[] = {{"Elu", "alpha"},
                                       {"HardSigmoid", "alpha", "beta"},
                                       {"LeakyRelu", "alpha"},
                                       {"Relu"},
                                       {"Selu", "alpha", "gamma"},
                                       {"Sigmoid"},
                                       {"Softplus"},
                                       {"Softsign"},
                                       {"Tanh"},
                                       {"ThresholdedRelu", "alpha"}};

/// The activation as an operator of the standard, which has no name where there is none.
struct Following {
  std::string op;
  std::vector<Attr> attrs;
  std::vector<float> inputs;
};

Expected<Following> following(const NodeView& fused, int64_t opset) {
  const auto act = fused_activation(fused);
  if (!act) return act.error();
  Following made;
  if (act->fn == Fn::kNone) return made;
  made.op = fused.get_string("activation", "");
  const bool limits = made.op == "Clip";
  if (limits && !(act->a <= act->b)) return Decline{"its limits cross"};
  if (limits && opset >= 11) {
    made.inputs = {act->a, act->b};
    return made;
  }
  static constexpr Parameters kLimits{"Clip", "min", "max"};
  const auto* known = limits ? &kLimits : std::ranges::find(kActivations, made.op, &Parameters::op);
  if (known == std::end(kActivations)) return Decline{"the standard has no operator " + made.op + " for it"};
  if (known->first) made.attrs.push_back({known->first, act->a, ""});
  if (known->second) made.attrs.push_back({known->second, act->b, ""});
  return made;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node& fused = *m.root;
  if (builder.target == Target::kOrt) return Decline{"ONNX Runtime has it"};
  if (builder.opset() < 7) return Decline{"Add broadcasts in another way before opset 7"};
  if (fused.output(0)->type.dtype != DType::kF32) return Decline{"it is not float32"};
  if (fused.is("FusedGemm", "com.microsoft") && !fused.input(2) && builder.opset() < 11)
    return Decline{"Gemm needs a third operand before opset 11"};
  auto then = following(builder.view(fused), builder.opset());
  if (!then) return then.error();
  const bool conv = fused.op == "FusedConv";
  std::vector<Attr> attrs = fused.attrs;
  std::erase_if(attrs, [](const Attr& a) { return a.name.starts_with("activation"); });
  std::vector<Value*> inputs{fused.input(0), fused.input(1)};
  if (fused.input(2)) inputs.push_back(fused.input(2));
  Value* made = builder.op(conv ? "Conv" : "Gemm", inputs, std::move(attrs));
  if (conv && fused.input(3)) made = builder.op("Add", {made, fused.input(3)});
  if (then->op.empty()) return Replacement{made};
  inputs = {made};
  for (const float number : then->inputs) inputs.push_back(builder.constant("limit", Tensor::scalar(number)));
  return Replacement{builder.op(then->op, std::move(inputs), std::move(then->attrs))};
}

/// With its last two axes exchanged.
Value* turned(Value* x, Builder& builder) {
  std::vector<int64_t> order(x->type.dims->size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order.end()[-1], order.end()[-2]);
  return builder.op("Transpose", {x}, {{"perm", std::move(order), ""}});
}

Expected<Replacement> rewrite_product(const Match& m, Builder& builder) {
  if (builder.target == Target::kOrt) return Decline{"ONNX Runtime has it"};
  const NodeView fused = builder.view(*m.root);
  if (fused.get_int("transBatchA", 0) || fused.get_int("transBatchB", 0)) return Decline{"it moves batches too"};
  if (m.root->output(0)->type.dtype != DType::kF32) return Decline{"it is not float32"};
  const bool turn[] = {fused.get_int("transA", 0) != 0, fused.get_int("transB", 0) != 0};
  std::vector<Value*> operands{m.root->input(0), m.root->input(1)};
  for (size_t i = 0; i < 2; ++i)
    if (turn[i] && (!operands[i]->type.dims || operands[i]->type.dims->size() < 2))
      return Decline{"the axes of its operands are not known"};
  for (size_t i = 0; i < 2; ++i)
    if (turn[i]) operands[i] = turned(operands[i], builder);
  Value* made = builder.op("MatMul", std::move(operands));
  const float alpha = fused.get_float("alpha", 1);
  if (alpha != 1) made = builder.op("Mul", {made, builder.constant("alpha", Tensor::scalar(alpha))});
  return Replacement{made};
}

std::vector<Rule> rules() {
  const std::vector<Pattern> inputs{Pattern::any("a"), Pattern::any("b")};
  return {{Pattern::op("FusedConv|FusedGemm", inputs).open().domain("com.microsoft"), rewrite},
          {Pattern::op("FusedMatMul", inputs).domain("com.microsoft"), rewrite_product}};
}

}  // namespace

const Pass split_fused_operators = {"split_fused_operators",
                                    "take apart what was joined for ONNX Runtime alone (not with --target ort)", rules};

}  // namespace mlopt::graphopt
