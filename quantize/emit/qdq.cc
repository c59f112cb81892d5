#include "quantize/emit/qdq.h"

#include <algorithm>

#include "core/base/error.h"

namespace mlopt::quantize {
namespace {

/// Scale and zero point of a grid as initializers.
struct GridValues {
  Value* scale;
  Value* zero_point;
};

class Emitter {
 public:
  Emitter(Model& model, const Plan& plan, const std::map<std::string, Grid>& grids, const Spec& spec)
      : graph_(*model.graph), plan_(plan), grids_(grids), spec_(spec) {}

  std::vector<LayerValue> run() {
    std::vector<std::pair<LayerValue, const Value*>> layers;
    for (const Node* node : graph_.nodes())
      if (plan_.nodes.contains(node) && is_weighted(*node)) {
        const Value* y = result_of(*node);
        layers.push_back({{node->name.empty() ? node->output(0)->name : node->name, node->op, y->name, {}}, y});
      }
    // Every name is looked up before the graph changes: outputs of the graph hand their names on.
    for (Value* v : plan_.values) owners_[v] = plan_.owner(v)->name;
    for (Node* node : graph_.nodes())
      if (plan_.nodes.contains(node) && is_weighted(*node)) quantize_weights(node);
    for (Value* v : plan_.values) quantize_activation(v);
    std::vector<LayerValue> found;
    for (auto& [layer, y] : layers) {
      const auto it = rounded_.find(y);
      layer.result = (it == rounded_.end() ? y : it->second)->name;
      found.push_back(std::move(layer));
    }
    for (const auto& [clamp, producer] : plan_.clamped) remove_clamp(clamp);
    return found;
  }

 private:
  static bool is_weighted(const Node& node) { return node.is("Conv") || node.is("Gemm") || node.is("MatMul"); }

  /// The node's result, or that of the clamp which its grid replaces.
  const Value* result_of(const Node& node) const {
    for (const auto& [clamp, producer] : plan_.clamped)
      if (producer == &node) return clamp->output(0);
    return node.output(0);
  }

  const Grid& grid_of(const Value* v) const { return grids_.at(owners_.at(v)); }

  GridValues values_of(const Value* v) {
    const std::string& owner = owners_.at(v);
    const auto it = grid_values_.find(owner);
    if (it != grid_values_.end()) return it->second;
    const Grid& grid = grids_.at(owner);
    const Tensor zero = grid.type == DType::kU8 ? Tensor::scalar<uint8_t>(static_cast<uint8_t>(grid.zero_point))
                                                : Tensor::scalar<int8_t>(static_cast<int8_t>(grid.zero_point));
    const GridValues made = {graph_.add_constant(owner + "_scale", Tensor::scalar(grid.scale)),
                             graph_.add_constant(owner + "_zero_point", zero)};
    grid_values_[owner] = made;
    return made;
  }

  /// v -> QuantizeLinear -> DequantizeLinear; every reader that should see the rounded value does.
  void quantize_activation(Value* v) {
    const auto [scale, zero] = values_of(v);
    // A float node's result keeps its precision for those who read floats; an integer node's result is rounded for all.
    const bool integer_result =
        v->producer && (plan_.nodes.contains(v->producer) || plan_.clamped.contains(v->producer));
    const std::vector<Use> uses = v->uses;
    const Node* before = v->producer ? nullptr : (graph_.nodes().empty() ? nullptr : graph_.nodes()[0]);
    if (v->producer) before = next_of(v->producer);
    const std::string base = v->name;
    Node* q = graph_.add_op("QuantizeLinear", {v, scale, zero}, {}, before, base + "_quantized");
    q->name = base + "_QuantizeLinear";
    Node* dq = graph_.add_op("DequantizeLinear", {q->output(0), scale, zero}, {}, before, base + "_dequantized");
    dq->name = base + "_DequantizeLinear";
    q->output(0)->type = Type::tensor(grid_of(v).type, v->type.dims);
    dq->output(0)->type = v->type;
    if (integer_result) rounded_[v] = dq->output(0);
    if (integer_result && v->is_output()) {
      graph_.replace_uses(v, dq->output(0));
      graph_.set_input(q, 0, v);
      return;
    }
    for (const Use& use : uses)
      if (integer_result || plan_.nodes.contains(use.node))
        use.node->graph()->set_input(use.node, use.index, dq->output(0));
  }

  const Node* next_of(const Node* node) const {
    const auto nodes = graph_.nodes();
    const auto it = std::find(nodes.begin(), nodes.end(), node);
    return it + 1 == nodes.end() ? nullptr : *(it + 1);
  }

  void remove_clamp(const Node* clamp) {
    Value* y = clamp->output(0);
    graph_.replace_uses(y, clamp->input(0));
    graph_.erase(const_cast<Node*>(clamp));
  }

  void quantize_weights(Node* node) {
    const Value* w = node->input(1);
    const float input_scale = grid_of(node->input(0)).scale;
    const bool by_rows = node->is("Conv") || transposes_weight(*node);
    const int axis = spec_.per_tensor ? -1 : by_rows ? 0 : 1;
    const Tensor* bias = node->input(2) ? node->input(2)->known_constant() : nullptr;
    const auto room = bias ? bias_room(*bias, input_scale) : std::vector<float>{};
    const QuantizedWeight q = quantize_weight(*w->known_constant(), axis, spec_.reduce_range(), room);
    const std::string base = w->name;
    graph_.set_input(node, 1, dequantized(node, base, q.codes, q.scale, q.zero_point, axis));
    if (!bias) return;
    const QuantizedBias b = quantize_bias(bias->reshaped({bias->size()}), input_scale, q.scale);
    const Tensor zeros = Tensor::zeros(DType::kI32, b.scale.dims());
    graph_.set_input(node, 2,
                     dequantized(node, node->input(2)->name, b.codes, b.scale, zeros, b.scale.rank() ? 0 : -1));
  }

  static bool transposes_weight(const Node& node) {
    const Attr* flag = node.is("Gemm") ? node.attr("transB") : nullptr;
    const auto* value = flag ? std::get_if<int64_t>(&flag->value) : nullptr;
    return value && *value != 0;
  }

  Value* dequantized(const Node* before, const std::string& base, const Tensor& codes, const Tensor& scale,
                     const Tensor& zero, int axis) {
    std::vector<Attr> attrs;
    if (axis >= 0) attrs.push_back({"axis", int64_t{axis}, {}});
    Node* dq =
        graph_.add_op("DequantizeLinear",
                      {graph_.add_constant(base + "_quantized", codes), graph_.add_constant(base + "_scale", scale),
                       graph_.add_constant(base + "_zero_point", zero)},
                      std::move(attrs), before, base + "_dequantized");
    dq->name = base + "_DequantizeLinear";
    dq->output(0)->type = Type::tensor(DType::kF32, codes.dims());
    return dq->output(0);
  }

  Graph& graph_;
  const Plan& plan_;
  const std::map<std::string, Grid>& grids_;
  const Spec& spec_;
  std::unordered_map<const Value*, std::string> owners_;
  std::map<std::string, GridValues> grid_values_;
  std::unordered_map<const Value*, const Value*> rounded_;
};

}  // namespace

std::vector<LayerValue> emit_qdq(Model& model, const Plan& plan, const std::map<std::string, Grid>& grids,
                                 const Spec& spec) {
  std::vector<LayerValue> layers = Emitter(model, plan, grids, spec).run();
  remove_dead(model);
  return layers;
}

}  // namespace mlopt::quantize
