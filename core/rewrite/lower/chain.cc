// Elementwise operators one after the other -> mlopt.Chain(x, operands...), which computes them tile by tile. Its
// attributes have an entry for each operator: `ops` its name, `params` two parameters, `operands` its other operand,
// the input of that number, 0: none, below 0: which is its left one.
#include <algorithm>

#include "core/ir/read_activation.h"
#include "core/rewrite/lower/passes.h"
#include "core/rewrite/qdq/steps.h"

namespace mlopt::lower {
namespace {

constexpr std::string_view kUnary =
    "Abs|Ceil|Clip|Elu|Erf|Exp|Floor|Gelu|HardSigmoid|HardSwish|LeakyRelu|Log|Mish|Neg|Reciprocal|Relu|Round|Selu|"
    "Sigmoid|Softplus|Softsign|Sqrt|Swish|Tanh|ThresholdedRelu";
constexpr std::string_view kBinary = "Add|Div|Max|Min|Mul|PRelu|Sub";

struct Links {
  std::vector<Value*> inputs;
  std::vector<std::string> ops;
  std::vector<float> params;
  std::vector<int64_t> operands;
};

bool is_float(const Value* value, const std::optional<Dims>& dims) {
  return value && value->type.dtype == DType::kF32 && dims;
}

/// Can the other operand be read in any layout of the result? So can one of the same shape, and one along one axis.
bool fits(const Value* other, const Dims& out) {
  const auto dims = other->type.static_dims();
  if (!is_float(other, dims)) return false;
  return *dims == out || (dims->size() <= out.size() &&
                          std::count_if(dims->begin(), dims->end(), [](int64_t d) { return d != 1; }) <= 1);
}

/// Adds the operator, which reads `made` and gives the shape that this has.
Expected<std::monostate> add(Links& links, const NodeView& view, const Value* made) {
  const Node& node = view.node();
  const auto dims = node.output(0)->type.static_dims();
  if (!is_float(node.output(0), dims) || !is_float(made, made->type.static_dims()) ||
      *dims != *made->type.static_dims())
    return Decline{"not float32 of one known shape"};
  if (node.inputs().size() == 1 || node.op == "Clip") {
    const auto act = activation_of(view);
    if (!act) return act.error();
    links.ops.push_back(act->fn == Fn::kGeluTanh ? "FastGelu" : node.op);
    links.params.insert(links.params.end(), {act->a, act->b});
    links.operands.push_back(0);
    return std::monostate{};
  }
  const bool left = node.input(0) == made;
  Value* other = node.input(left ? 1 : 0);
  if (node.inputs().size() != 2 || view.has("broadcast") || view.has("axis")) return Decline{"not two operands"};
  if (!fits(other, *dims) || (node.op == "PRelu" && !left)) return Decline{"the other operand repeats in another way"};
  links.inputs.push_back(other);
  links.ops.push_back(node.op);
  links.params.insert(links.params.end(), {0, 0});
  links.operands.push_back(static_cast<int64_t>(links.inputs.size() - 1) * (left ? 1 : -1));
  return std::monostate{};
}

/// A chain, or an operator as a chain of one.
Expected<Links> read(const NodeView& view) {
  const Node& node = view.node();
  if (node.domain == "mlopt")
    return Links{node.inputs(), view.get_strings("ops"), view.get_floats("params"), view.get_ints("operands")};
  const auto dims = node.output(0)->type.static_dims();
  const bool second =
      node.inputs().size() == 2 && node.op != "Clip" && node.op != "PRelu" && node.input(0)->type.static_dims() != dims;
  Value* made = node.input(second ? 1 : 0);
  if (node.inputs().size() == 2 && node.input(0) == node.input(1)) return Decline{"both operands are one value"};
  Links links{.inputs = {made}, .ops = {}, .params = {}, .operands = {}};
  if (const auto added = add(links, view, made); !added) return added.error();
  return links;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node* before = m.node("before");
  auto links = read(builder.view(*before));
  if (!links) return links.error();
  constexpr size_t kMostLinks = 64;  // each step copies those before it, and its tile is in the cache by then
  if (links->ops.size() >= kMostLinks) return Decline{"the chain is long enough"};
  if (const auto added = add(*links, builder.view(*m.root), before->output(0)); !added) return added.error();
  std::vector<Attr> attrs{{"ops", std::move(links->ops), ""},
                          {"params", std::move(links->params), ""},
                          {"operands", std::move(links->operands), ""}};
  return Replacement{qdq::other_op(m, *m.root, builder, "Chain", std::move(links->inputs), std::move(attrs), "mlopt")};
}

std::vector<Rule> rules() {
  std::vector<Rule> all;
  const Pattern any = Pattern::any("x");
  for (Pattern before : {Pattern::op("Chain", {any}).domain("mlopt"), Pattern::op(kUnary, {any}),
                         Pattern::op(kBinary, {any, Pattern::any("y")})}) {
    before = std::move(before).open().as("before").single_use();
    all.push_back({Pattern::op(kUnary, {before}).open(), rewrite});
    all.push_back({Pattern::op(kBinary, {before, Pattern::any("other")}).any_order(), rewrite});
  }
  return all;
}

}  // namespace

const Pass chain = {"chain", "elementwise operators one after the other as one step", rules};

}  // namespace mlopt::lower
