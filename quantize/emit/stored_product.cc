#include "quantize/emit/stored_product.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "core/ir/view.h"
#include "core/tensor/cast.h"

namespace mlopt::quantize {
namespace {

constexpr const char* kMicrosoft = "com.microsoft";

std::string reader_problem(const Node& node) {
  if (!node.is("MatMul") && !node.is("Gemm")) return fmt::format("{} multiplies by it otherwise", node.label());
  const NodeView view(node, 0);
  if (node.is("Gemm") && (view.get_float("alpha", 1) != 1 || view.get_int("transA", 0) != 0))
    return "its Gemm scales the product or transposes its input";
  const auto& dims = node.input(0)->type.dims;
  return dims && dims->size() >= 2 ? "" : "its input has no rank of 2 or more that is known";
}

bool only_moves(const Node& node) { return node.is("Identity") || node.is("Transpose"); }

/// The weight, and what Transposes make of it.
std::vector<const Value*> forms_of(const Weight& weight) {
  std::vector<const Value*> values = {weight.value};
  for (size_t i = 0; i < values.size(); ++i)
    for (const Use& use : values[i]->uses)
      if (only_moves(*use.node)) values.push_back(use.node->output(0));
  return values;
}

std::vector<Use> uses_of(const std::vector<const Value*>& forms) {
  std::vector<Use> found;
  for (const Value* v : forms)
    std::copy_if(v->uses.begin(), v->uses.end(), std::back_inserter(found),
                 [](const Use& use) { return !only_moves(*use.node); });
  return found;
}

/// beta * C as [N]; null where it is no such constant.
Value* bias_of(Node* gemm, float beta) {
  Value* c = gemm->input(2);
  const Attr* n = gemm->attr("N");
  if (!c->known_constant() || c->constant->size() != std::get<int64_t>(n->value)) return nullptr;
  const Dims& dims = c->constant->dims();
  if (dims.empty() || dims.back() != c->constant->size()) return nullptr;
  if (beta == 1 && dims.size() == 1) return c;
  std::vector<float> numbers = to_floats(*c->constant);
  for (float& x : numbers) x *= beta;
  return gemm->graph()->add_constant(c->name + "_scaled", Tensor::of<float>({c->constant->size()}, numbers));
}

/// product + beta * C in the place of the layer that now is the product.
void add_behind(Node* layer, float beta, Value* c) {
  Graph& graph = *layer->graph();
  std::vector<Value*> inputs(layer->inputs().begin(), layer->inputs().end());
  Node* product =
      graph.add_op(layer->op, inputs, layer->attrs, layer, layer->output(0)->name + "_product", 1, layer->domain);
  product->name = product->output(0)->name;
  product->output(0)->type = layer->output(0)->type;
  layer->op = "Add";
  layer->domain.clear();
  layer->attrs.clear();
  if (beta != 1) {
    Value* factor = graph.add_constant(c->name + "_beta", Tensor::scalar(beta));
    c = graph.add_op("Mul", {c, factor}, {}, layer, c->name + "_scaled")->output(0);
  }
  graph.resize_inputs(layer, 2);
  graph.set_input(layer, 0, product->output(0));
  graph.set_input(layer, 1, c);
}

void make_stored_product(Node* layer, const StoredProduct& product) {
  Graph& graph = *layer->graph();
  const float beta = NodeView(*layer, 0).get_float("beta", 1);
  Value* c = layer->is("Gemm") && beta != 0 ? layer->input(2) : nullptr;
  layer->attrs = product.attrs;
  Value* bias = c && product.bias_at >= 0 ? bias_of(layer, beta) : nullptr;
  layer->op = product.op;
  layer->domain = kMicrosoft;
  graph.resize_inputs(layer, 1);
  for (size_t i = 0; i < product.stored.size(); ++i)
    if (product.stored[i]) graph.set_input(layer, static_cast<int>(i) + 1, product.stored[i]);
  if (bias)
    graph.set_input(layer, product.bias_at, bias);
  else if (c)
    add_behind(layer, beta, c);
}

}  // namespace

bool read_by_others(const Weight& weight) {
  const std::vector<const Value*> values = forms_of(weight);
  if (std::any_of(values.begin(), values.end(), [](const Value* v) { return v->is_output(); })) return true;
  const std::vector<Use> uses = uses_of(values);
  return std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
    return use.index != 1 || !std::count(weight.readers.begin(), weight.readers.end(), use.node);
  });
}

std::string stored_product_problem(const Weight& weight) {
  if (weight.op != "MatMul" && weight.op != "Gemm") return fmt::format("{} is no MatMul or Gemm", weight.op);
  if (weight.groups > 1 || weight.value->constant->rank() != 2) return "it is a batch of matrices";
  if (weight.operand != 1) return "it is multiplied from the left";
  for (const Node* reader : weight.readers)
    if (std::string problem = reader_problem(*reader); !problem.empty()) return problem;
  return read_by_others(weight) ? "it is read by other nodes too" : "";
}

void make_stored_products(Model& model, const Weight& weight, const StoredProduct& product) {
  if (model.opset(kMicrosoft) == 0) model.set_opset(kMicrosoft, 1);
  for (const Use& use : uses_of(forms_of(weight))) make_stored_product(use.node, product);
}

}  // namespace mlopt::quantize
