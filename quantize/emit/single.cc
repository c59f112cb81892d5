#include "quantize/emit/single.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "core/base/error.h"
#include "core/rewrite/cast_output.h"
#include "core/tensor/cast.h"

namespace mlopt::quantize {
namespace {

/// Attributes that say an element type.
constexpr std::string_view kTypeAttributes[] = {"to", "dtype", "output_dtype"};

bool is_short(DType type) { return type == DType::kF16 || type == DType::kBF16; }

bool is_short(const Type& type) {
  if (type.kind == Type::Kind::kTensor) return is_short(type.dtype);
  return type.element && is_short(*type.element);
}

Type widened(const Type& type) {
  Type wide = type;
  if (is_short(type.dtype)) wide.dtype = DType::kF32;
  if (type.element) wide.element = std::make_shared<const Type>(widened(*type.element));
  return wide;
}

void widen(Tensor& tensor) {
  if (is_short(tensor.dtype())) tensor = cast(tensor, DType::kF32);
}

void widen_attributes(Node& node) {
  for (Attr& attr : node.attrs) {
    if (auto* tensor = std::get_if<Tensor>(&attr.value)) {
      widen(*tensor);
    } else if (auto* type = std::get_if<Type>(&attr.value)) {
      *type = widened(*type);
    } else if (auto* number = std::get_if<int64_t>(&attr.value)) {
      const bool names_type =
          std::find(std::begin(kTypeAttributes), std::end(kTypeAttributes), attr.name) != std::end(kTypeAttributes);
      if (names_type && is_short(static_cast<DType>(*number))) *number = static_cast<int64_t>(DType::kF32);
    }
  }
}

/// Seen from outside and made by no node: its type stays, and what reads it reads a Cast.
bool is_fixed(const Value& value) {
  return !value.graph->owner && !value.producer && (value.is_input || value.is_output());
}

/// The graph and its bodies.
int64_t widen_values(Graph& graph) {
  int64_t changed = 0;
  for (Value* value : graph.values()) {
    if (!is_short(value->type) || is_fixed(*value)) continue;
    value->type = widened(value->type);
    if (value->constant) widen(*value->constant);
    ++changed;
  }
  for (Node* node : graph.nodes()) {
    widen_attributes(*node);
    for (Graph* body : node->bodies()) changed += widen_values(*body);
  }
  return changed;
}

void require_tensor(const Value& value) {
  if (!is_short(value.type) || value.type.is_tensor()) return;
  unsupported_error("only tensors can be cast, not " + to_string(value.type), "value '" + value.name + "'");
}

std::vector<Attr> cast_to(DType type) { return {{"to", int64_t{static_cast<int64_t>(type)}, {}}}; }

void cast_inputs(Graph& graph) {
  const std::vector<Node*> nodes = graph.nodes();
  for (Value* value : graph.values()) {
    if (!is_short(value->type) || !is_fixed(*value) || value->uses.empty()) continue;
    const std::vector<Use> uses = value->uses;
    Value* wide = graph.add_op("Cast", {value}, cast_to(DType::kF32), nodes.front(), value->name + "_float")->output(0);
    wide->type = widened(value->type);
    for (const Use& use : uses) use.node->graph()->set_input(use.node, use.index, wide);
  }
}

/// `declared` are the types that the outputs had.
void cast_outputs(Graph& graph, const std::vector<Type>& declared) {
  const std::vector<Value*> outputs = graph.outputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    Value* output = outputs[i];
    if (!output->is_output() || !output->producer || !is_short(declared[i])) continue;
    cast_output(graph, output, declared[i], output->name + "_float");
  }
}

/// Casts from float32 to float32, which were needed before.
void remove_idle_casts(Graph& graph) {
  for (Node* node : graph.nodes()) {
    for (Graph* body : node->bodies()) remove_idle_casts(*body);
    if (!node->is("Cast")) continue;
    Value *from = node->input(0), *to = node->output(0);
    const bool can_take_name = from->producer && from->graph == &graph && !from->is_output();
    if (to->is_output() && !can_take_name) continue;
    if (!from->type.is_tensor() || from->type.dtype != DType::kF32 || to->type.dtype != DType::kF32) continue;
    graph.replace_uses(to, from);
    graph.erase(node);
  }
}

}  // namespace

int64_t emit_single(Model& model) {
  Graph& graph = *model.graph;
  for (const auto& values : {graph.inputs(), graph.outputs()}) {
    for (const Value* value : values) require_tensor(*value);
  }
  std::vector<Type> declared;
  for (const Value* output : graph.outputs()) declared.push_back(output->type);
  const int64_t changed = widen_values(graph);
  cast_outputs(graph, declared);
  cast_inputs(graph);
  remove_idle_casts(graph);
  return changed;
}

}  // namespace mlopt::quantize
