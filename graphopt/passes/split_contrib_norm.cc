// com.microsoft's SkipLayerNormalization -> Add and LayerNormalization; SimplifiedLayerNormalization, with and without
// Skip before it, -> RMSNormalization (opset 23): operators of the standard, which other runtimes know.
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

/// `usual`: what the operator adds where its node does not say.
std::vector<Attr> attrs_of(const NodeView& norm, float usual) {
  return {{"axis", norm.get_int("axis", -1), ""}, {"epsilon", norm.get_float("epsilon", usual), ""}};
}

/// What is asked of all.
std::string objection(const Match& m, const Builder& builder) {
  const Value* x = m.root->input(0);
  if (builder.target == Target::kOrt) return "ONNX Runtime has it";
  if (!x || x->type.dtype != DType::kF32) return "it is not float32";
  const bool simplified = m.root->op.find("Simplified") != std::string::npos;
  if (simplified && !builder.has(23)) return "RMSNormalization needs opset 23";
  if (!builder.has(17)) return "LayerNormalization needs opset 17";
  return {};
}

Expected<Replacement> simplified(const Match& m, Builder& builder) {
  if (const std::string why = objection(m, builder); !why.empty()) return Decline{why};
  const Node& norm = *m.root;
  if (!norm.input(1) || norm.output(1)) return Decline{"it has no scale, or gives its statistics"};
  return Replacement{builder.op("RMSNormalization", {norm.input(0), norm.input(1)}, attrs_of(builder.view(norm), 1e-5f),
                                norm.output(0)->type)};
}

/// (x, skip, gamma, beta, bias) or (x, skip, gamma, bias) -> normalized, mean, deviation, sum.
Expected<Replacement> skip(const Match& m, Builder& builder) {
  if (const std::string why = objection(m, builder); !why.empty()) return Decline{why};
  const Node& norm = *m.root;
  const bool plain = norm.op == "SkipLayerNormalization";
  Value *x = norm.input(0), *other = norm.input(1), *bias = norm.input(plain ? 4 : 3);
  if (!other || !norm.input(2) || norm.output(1) || norm.output(2)) return Decline{"it gives its statistics"};
  Value* sum = builder.op("Add", {x, other}, {}, x->type);
  if (bias) sum = builder.op("Add", {sum, bias}, {}, x->type);
  std::vector<Value*> inputs{sum, norm.input(2)};
  if (plain && norm.input(3)) inputs.push_back(norm.input(3));
  std::vector<Attr> attrs = attrs_of(builder.view(norm), 1e-12f);
  Value* y =
      builder.op(plain ? "LayerNormalization" : "RMSNormalization", std::move(inputs), std::move(attrs), x->type);
  return Replacement{y, nullptr, nullptr, norm.output(3) ? sum : nullptr};
}

std::vector<Rule> rules() {
  return {{Pattern::op("SimplifiedLayerNormalization", {}).open(), simplified},
          {Pattern::op("SkipLayerNormalization|SkipSimplifiedLayerNormalization", {}).open().domain("com.microsoft"),
           skip}};
}

}  // namespace

const Pass split_contrib_norm = {
    "split_contrib_norm", "ONNX Runtime's normalizations as the standard has them (not with --target ort)", rules};

}  // namespace mlopt::graphopt
