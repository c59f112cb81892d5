#include "quantize/float_again.h"

#include <algorithm>
#include <map>

namespace mlopt::quantize {
namespace {

bool is_rounding(const Node* node, const char* op) { return node && node->is(op) && !node->input(0)->constant; }

/// The layer, and the Relu or Clip behind it whose result counts as the layer's.
std::vector<const Node*> nodes_of(const Graph& source, const LayerValue& layer) {
  const Value* y = source.find(layer.source);
  const Node* last = y ? y->producer : nullptr;
  if (!last) return {};
  if (last->called() == layer.layer) return {last};
  const Node* first = last->input(0) ? last->input(0)->producer : nullptr;
  if (!first || first->called() != layer.layer) return {};
  return {first, last};
}

/// What is rounded to give the layer's result; that itself where it is not rounded.
Value* before_rounding(Value* y) {
  if (!is_rounding(y->producer, "DequantizeLinear")) return y;
  Value* codes = y->producer->input(0);
  if (!is_rounding(codes->producer, "QuantizeLinear")) return y;
  Value* x = codes->producer->input(0);
  const Node* limit = x->producer;  // to fewer codes than the type has
  return limit && limit->is("Clip") ? limit->input(0) : x;
}

/// The value behind its rounding to codes; null where it is not rounded.
Value* rounded(const Value* x) {
  for (const Use& use : x->uses) {
    const Value* limited = use.node->output(0);
    const Node* q = use.node->is("Clip") && limited->single_use() ? limited->uses[0].node : use.node;
    if (!q->is("QuantizeLinear") || q->output(0)->uses.empty()) continue;
    const Node* dq = q->output(0)->uses[0].node;
    if (dq->is("DequantizeLinear")) return dq->output(0);
  }
  return nullptr;
}

class Restorer {
 public:
  Restorer(Model& quantized, const Model& source) : to_(*quantized.graph), from_(*source.graph) {}

  bool run(const LayerValue& layer) {
    const std::vector<const Node*> nodes = nodes_of(from_, layer);
    Value* y = to_.find(layer.result);
    if (nodes.empty() || !y || !nodes[0]->bodies().empty()) return false;
    std::vector<Value*> results;  // of the last node, in the quantized model
    for (const Value* v : nodes.back()->outputs()) {
      const bool first = v && v->name == layer.source;
      results.push_back(!v ? nullptr : first ? before_rounding(y) : to_.find(v->name));
      if (v && !results.back()) return false;
    }
    if (!readable(nodes)) return false;
    const Node* at = first_of(results);
    if (!at) return false;
    Node* made = nullptr;
    for (const Node* node : nodes) made = copy(*node, at, made ? made->output(0) : nullptr);
    for (size_t i = 0; i < results.size(); ++i)
      if (results[i]) to_.replace_uses(results[i], made->output(static_cast<int>(i)));
    return true;
  }

 private:
  /// Are the values there that the nodes read?
  bool readable(const std::vector<const Node*>& nodes) const {
    const auto there = [&](const Value* v) { return !v || v->known_constant() || as_read(*v); };
    const auto& of_first = nodes[0]->inputs();
    const auto constants = [](const Value* v) { return !v || v->known_constant(); };
    return std::all_of(of_first.begin(), of_first.end(), there) &&
           (nodes.size() == 1 || std::all_of(nodes[1]->inputs().begin() + 1, nodes[1]->inputs().end(), constants));
  }

  /// What the layer would read; null where there is no such value. A convolution on codes gives nothing but codes, and
  /// a Relu or Clip whose place a grid has taken is part of the rounding.
  Value* as_read(const Value& source) const {
    if (Value* x = to_.find(source.name)) {
      const Node* from = x->producer;
      const bool codes = from && from->is("Conv") && is_rounding(from->input(0)->producer, "DequantizeLinear");
      Value* dequantized = codes ? rounded(x) : nullptr;
      return dequantized ? dequantized : x;
    }
    const Node* clamp = source.producer;
    if (!clamp || !(clamp->is("Relu") || clamp->is("Clip"))) return nullptr;
    const Value* x = to_.find(clamp->input(0)->name);
    return x ? rounded(x) : nullptr;
  }

  /// Where what the layer reads has been computed: before its own nodes, of which the results are.
  static const Node* first_of(const std::vector<Value*>& results) {
    const auto there = std::find_if(results.begin(), results.end(), [](const Value* v) { return v != nullptr; });
    return there == results.end() ? nullptr : (*there)->producer;
  }

  Node* copy(const Node& node, const Node* before, Value* data) {
    std::vector<Value*> inputs;
    for (Value* v : node.inputs()) {
      if (!v)
        inputs.push_back(nullptr);
      else if (v->known_constant())
        inputs.push_back(to_.add_constant(v->name + "_float", *v->constant));
      else
        inputs.push_back(data ? data : as_read(*v));
    }
    Node* made = to_.add_op(node.op, inputs, node.attrs, before, node.called() + "_float",
                            static_cast<int>(node.outputs().size()), node.domain);
    for (size_t i = 0; i < node.outputs().size(); ++i)
      if (node.outputs()[i]) made->output(static_cast<int>(i))->type = node.outputs()[i]->type;
    return made;
  }

  Graph& to_;
  const Graph& from_;
};

}  // namespace

bool float_again(Model& quantized, const Model& source, const LayerValue& layer) {
  return Restorer(quantized, source).run(layer);
}

}  // namespace mlopt::quantize
