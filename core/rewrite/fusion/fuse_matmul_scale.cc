// A number that an operand of a product, or the product itself, is multiplied with or divided by -> the factor of
// com.microsoft.FusedMatMul, which saves a pass over the memory: the scale of attention that is no operator of its own.
#include "core/rewrite/fusion/attention_site.h"
#include "core/rewrite/fusion/loaded_gemm.h"
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/qdq/steps.h"

namespace mlopt::fusion {
namespace {

/// Why it cannot take the factor; "" where it can.
std::string fault(const Node& product, const Builder& builder) {
  if (builder.target != Target::kOrt) return "only ONNX Runtime has it";
  if (becomes_gemm(product)) return "a bias joins the product";
  for (const Value* v : product.inputs())
    if (v->type.dtype != DType::kF32 || !v->type.dims || v->type.dims->size() < 2) return "not float32 matrices";
  return "";
}

Value* with_factor(const Match& m, const Node& product, std::vector<Value*> inputs, double factor, Builder& builder) {
  std::vector<Attr> attrs = product.attrs;
  std::erase_if(attrs, [](const Attr& attr) { return attr.name == "alpha"; });
  const double all = builder.view(product).get_float("alpha", 1) * factor;
  attrs.push_back({"alpha", static_cast<float>(all), ""});
  return qdq::other_op(m, product, builder, "FusedMatMul", std::move(inputs), std::move(attrs));
}

template <int kSide>
Expected<Replacement> rewrite_operand(const Match& m, Builder& builder) {
  const Node& product = *m.root;
  std::vector<Value*> inputs(product.inputs().begin(), product.inputs().end());
  Value* scaled = inputs[kSide];
  double factor = 1;
  inputs[kSide] = unscaled(scaled, factor);
  if (inputs[kSide] == scaled) return Decline{};
  if (!scaled->type.dims || inputs[kSide]->type.dims != scaled->type.dims) return Decline{"the number has more axes"};
  if (const std::string reason = fault(product, builder); !reason.empty()) return Decline{reason};
  return Replacement{with_factor(m, product, std::move(inputs), factor, builder)};
}

Expected<Replacement> rewrite_product(const Match& m, Builder& builder) {
  const Node& product = *m.node("product");
  Value* scaled = m.root->output(0);
  double factor = 1;
  if (unscaled(scaled, factor) != product.output(0)) return Decline{};
  if (!scaled->type.dims || scaled->type.dims != product.output(0)->type.dims)
    return Decline{"the number has more axes"};
  if (const std::string reason = fault(product, builder); !reason.empty()) return Decline{reason};
  return Replacement{with_factor(m, product, product.inputs(), factor, builder)};
}

void add_rules(Pattern (*product)(std::vector<Pattern>), std::vector<Rule>& rules) {
  const Pattern scale = Pattern::op("Mul|Div", {}).open().as("scale").single_use();
  rules.push_back({product({scale, Pattern::any("b")}), rewrite_operand<0>});
  rules.push_back({product({Pattern::any("a"), scale}), rewrite_operand<1>});
  const Pattern inner = product({Pattern::any("a"), Pattern::any("b")}).as("product").single_use();
  rules.push_back({Pattern::op("Mul|Div", {inner, Pattern::constant("number")}), rewrite_product});
  rules.push_back({Pattern::op("Mul", {Pattern::constant("number"), inner}), rewrite_product});
}

std::vector<Rule> rules() {
  std::vector<Rule> all;
  add_rules([](std::vector<Pattern> in) { return Pattern::op("MatMul", std::move(in)); }, all);
  add_rules([](std::vector<Pattern> in) { return Pattern::op("FusedMatMul", std::move(in)).domain("com.microsoft"); },
            all);
  return all;
}

}  // namespace

const Pass fuse_matmul_scale = {"fuse_matmul_scale", "the scale of a product as its factor (--target ort)", rules};

}  // namespace mlopt::fusion
