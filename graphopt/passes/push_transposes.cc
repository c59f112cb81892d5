// op(Transpose(x)) -> Transpose(op(x)) where another Transpose then cancels it or two become one.
#include <algorithm>
#include <optional>
#include <string_view>

#include "graphopt/passes.h"
#include "graphopt/passes/reduction.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

using Perm = std::vector<int64_t>;

constexpr std::string_view kUnary[] = {"Relu",        "Clip",      "Sigmoid", "Tanh",     "Exp",       "Log",
                                       "Sqrt",        "Abs",       "Neg",     "Erf",      "LeakyRelu", "Elu",
                                       "Selu",        "Softplus",  "Cast",    "Identity", "Floor",     "Ceil",
                                       "HardSigmoid", "HardSwish", "Mish",    "Gelu",     "Softsign",  "Reciprocal"};
constexpr std::string_view kBinary[] = {"Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "PRelu"};

bool listed(std::span<const std::string_view> names, const Node& node) {
  return node.domain.empty() && std::find(names.begin(), names.end(), node.op) != names.end();
}

/// The Transpose that gives v in the same graph, with a valid permutation that is written out.
const Node* transpose_of(const Value* v, const Graph* graph) {
  if (!v || !v->producer || v->graph != graph || !v->producer->is("Transpose")) return nullptr;
  const Attr* perm = v->producer->attr("perm");
  const auto* axes = perm ? std::get_if<Perm>(&perm->value) : nullptr;
  const auto& dims = v->producer->input(0)->type.dims;
  if (!axes || !dims || dims->size() != axes->size() || !ordered_axes(*axes, static_cast<int64_t>(dims->size())))
    return nullptr;
  return v->producer;
}

const Perm& perm_of(const Node& transpose) { return std::get<Perm>(transpose.attr("perm")->value); }

bool cancels(const Perm& first, const Perm& second) {
  if (first.size() != second.size()) return false;
  for (size_t i = 0; i < first.size(); ++i)
    if (first[static_cast<size_t>(second[i])] != static_cast<int64_t>(i)) return false;
  return true;
}

/// A constant that can be read before the Transpose as well: one number, or one axis that is not 1.
std::optional<Tensor> moved_constant(const Tensor& c, const Perm& perm) {
  if (c.size() == 1 && c.rank() <= static_cast<int>(perm.size())) return c;
  if (c.rank() > static_cast<int>(perm.size())) return std::nullopt;
  Dims dims(perm.size(), 1);
  int longer = 0;
  for (int i = 0; i < c.rank(); ++i) {
    dims[static_cast<size_t>(perm[perm.size() - static_cast<size_t>(c.rank()) + static_cast<size_t>(i)])] = c.dim(i);
    longer += c.dim(i) != 1;
  }
  if (longer > 1 || c.size() == 0) return std::nullopt;
  return c.reshaped(dims);
}

/// The inputs of an elementwise operator or Concat before the Transpose; nothing where one cannot be moved. `count`:
/// how many Transposes that serves.
std::optional<std::vector<Value*>> moved_inputs(const Node& node, const Perm& perm, int& count, Builder* builder) {
  std::vector<Value*> inputs;
  count = 0;
  for (Value* v : node.inputs()) {
    const Node* transpose = transpose_of(v, node.graph());
    if (transpose && perm_of(*transpose) == perm && v->single_use()) {
      inputs.push_back(transpose->input(0));
      ++count;
    } else if (listed(kUnary, node) && !inputs.empty()) {
      inputs.push_back(v);  // limits of Clip
    } else if (v && v->known_constant() && !node.is("Concat")) {
      const auto constant = moved_constant(*v->known_constant(), perm);
      if (!constant) return std::nullopt;
      inputs.push_back(
          !builder || constant->dims() == v->known_constant()->dims() ? v : builder->constant(v->name, *constant));
    } else {
      return std::nullopt;
    }
  }
  return count ? std::optional(inputs) : std::nullopt;
}

bool movable(const Node& node, const Builder& builder) {
  if (node.outputs().size() != 1) return false;
  return listed(kUnary, node) || (listed(kBinary, node) && builder.opset() >= 7 && node.inputs().size() == 2) ||
         node.is("Concat");
}

/// Does a Transpose of y by `perm`, moved further, come to one that cancels it?
bool leads_to_inverse(const Value& y, const Perm& perm, const Builder& builder, int depth = 8) {
  for (const Use& use : y.uses) {
    const Node& user = *use.node;
    if (user.graph() != y.graph || user.outputs().size() != 1) continue;
    if (user.is("Transpose")) {
      const Node* other = transpose_of(user.output(0), y.graph);
      if (other && cancels(perm, perm_of(*other))) return true;
    } else if (depth > 0 && y.single_use() && movable(user, builder)) {
      const bool others_constant = std::all_of(user.inputs().begin(), user.inputs().end(), [&](const Value* v) {
        if (!v || v == &y) return true;
        const Node* other = transpose_of(v, y.graph);
        return (v->known_constant() && !user.is("Concat")) || (other && perm_of(*other) == perm && v->single_use());
      });
      if (others_constant && leads_to_inverse(*user.output(0), perm, builder, depth - 1)) return true;
    }
  }
  return false;
}

const Node* first_transpose(const Node& node) {
  for (const Value* v : node.inputs())
    if (const Node* found = transpose_of(v, node.graph()); found && v->single_use()) return found;
  return nullptr;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node& node = *m.root;
  const Node* transpose = first_transpose(node);
  if (!transpose) return Decline{};
  if (!movable(node, builder)) return Decline{"its opset broadcasts in another way"};
  const Perm perm = perm_of(*transpose);
  int count = 0;
  if (!moved_inputs(node, perm, count, nullptr)) return Decline{"its inputs are not transposed in one way"};
  if (count < 2 && !leads_to_inverse(*node.output(0), perm, builder))
    return Decline{"no Transpose would go when it were moved"};
  const auto inputs = moved_inputs(node, perm, count, &builder);
  Value* y = builder.op(node.op, *inputs, node.attrs);
  if (node.is("Concat")) {
    int64_t axis = builder.view(node).get_int("axis", 1);
    axis += axis < 0 ? static_cast<int64_t>(perm.size()) : 0;
    if (axis < 0 || axis >= static_cast<int64_t>(perm.size())) return Decline{"its axis is not valid"};
    y->producer->set_attr("axis", perm[static_cast<size_t>(axis)]);
  }
  y->type.kind = Type::Kind::kTensor;
  y->type.dtype = node.output(0)->type.dtype;
  return Replacement{builder.op("Transpose", {y}, {{"perm", perm, {}}}, node.output(0)->type)};
}

/// A reduction of fewer elements before the Transpose, which is not needed where the axes left are in order.
Expected<Replacement> rewrite_reduction(const Match& m, Builder& builder) {
  const Node* transpose = first_transpose(*m.root);
  if (!transpose) return Decline{};
  const Perm& perm = perm_of(*transpose);
  auto reduction = Reduction::of(builder.view(*m.root));
  if (!reduction) return reduction.error();
  Perm left;
  std::vector<int64_t> axes;
  for (size_t i = 0; i < perm.size(); ++i)
    (std::binary_search(reduction->axes.begin(), reduction->axes.end(), static_cast<int64_t>(i)) ? axes : left)
        .push_back(perm[i]);
  std::sort(axes.begin(), axes.end());
  const Type& type = m.root->output(0)->type;
  const Reduction before = {axes, reduction->keepdims, reduction->all_axes};
  if (reduction->keepdims) {
    Value* y = make_reduction(builder, m.root->op, transpose->input(0), before);
    y->type = Type::tensor(type.dtype, before.shape(*transpose->input(0)->type.dims, true));
    return Replacement{builder.op("Transpose", {y}, {{"perm", perm, {}}}, type)};
  }
  if (!std::is_sorted(left.begin(), left.end())) return Decline{"the axes that it leaves are in another order"};
  return Replacement{make_reduction(builder, m.root->op, transpose->input(0), before, type)};
}

std::vector<Rule> rules() {
  std::string elementwise = "Concat";
  for (const std::string_view op : kUnary) elementwise += "|" + std::string(op);
  for (const std::string_view op : kBinary) elementwise += "|" + std::string(op);
  return {{Pattern::op(elementwise, {}).open(), rewrite},
          {Pattern::op("ReduceMean|ReduceSum|ReduceMax|ReduceMin|ReduceProd|ReduceL2", {}).open(), rewrite_reduction}};
}

}  // namespace

const Pass push_transposes = {"push_transposes", "move Transposes to where they cancel", rules};

}  // namespace mlopt::graphopt
