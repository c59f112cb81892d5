#include "quantize/emit/qdq.h"

#include <algorithm>
#include <cmath>

#include "core/tensor/cast.h"
#include "quantize/emit/codes.h"
#include "quantize/emit/weights.h"

namespace mlopt::quantize {
namespace {

/// Scale and zero point of a grid as initializers.
struct GridValues {
  Value* scale;
  Value* zero_point;
};

class Emitter {
 public:
  Emitter(Model& model, const Plan& plan, const std::map<std::string, Grid>& grids, const Spec& spec,
          const Rounded& chosen)
      : graph_(*model.graph), writer_(graph_), plan_(plan), grids_(grids), spec_(spec), chosen_(chosen) {}

  Emitted run() {
    std::vector<std::pair<LayerValue, const Value*>> layers;
    for (const Node* node : graph_.nodes())
      if (has_weight(*node)) {
        const Value* y = result_of(*node);
        layers.push_back({{node->called(), node->op, y->name, {}, plan_.owner(node->input(0))->name}, y});
      }
    // Every name is looked up before the graph changes: outputs of the graph hand their names on.
    for (Value* v : plan_.values) owners_[v] = plan_.owner(v)->name;
    for (Node* node : graph_.nodes())
      if (has_weight(*node)) quantize_weights(node);
    for (Node* node : graph_.nodes())
      if (const auto it = plan_.scalars.find(node); it != plan_.scalars.end()) quantize_scalar(node, it->second);
    for (Node* node : graph_.nodes())
      if (const auto it = plan_.constants.find(node); it != plan_.constants.end())
        for (const int i : it->second) quantize_constant(node, i);
    for (Value* v : plan_.values) quantize_activation(v);
    for (auto& [layer, y] : layers) {
      const auto it = rounded_.find(y);
      layer.result = (it == rounded_.end() ? y : it->second)->name;
      done_.layers.push_back(std::move(layer));
    }
    for (const auto& [clamp, producer] : plan_.clamped) remove_clamp(clamp);
    return std::move(done_);
  }

 private:
  /// A layer on integers whose weight is stored in them?
  bool has_weight(const Node& node) const {
    return plan_.nodes.contains(&node) && is_weighted(node) && node.input(1)->known_constant() &&
           !plan_.constants.contains(&node);
  }

  /// The node's result, or that of the clamp which its grid replaces.
  const Value* result_of(const Node& node) const {
    const Value* y = node.output(0);
    if (!y->single_use()) return y;
    const auto clamp = plan_.clamped.find(y->uses[0].node);
    return clamp != plan_.clamped.end() && clamp->second == &node ? clamp->first->output(0) : y;
  }

  const Grid& grid_of(const Value* v) const { return grids_.at(owners_.at(v)); }

  GridValues values_of(const Value* v) {
    const std::string& owner = owners_.at(v);
    const auto it = grid_values_.find(owner);
    if (it != grid_values_.end()) return it->second;
    const Grid& grid = grids_.at(owner);
    const GridValues made = {graph_.add_constant(owner + "_scale", Tensor::scalar(grid.scale)),
                             graph_.add_constant(owner + "_zero_point", zero_point_of(grid))};
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
    const Node* before = graph_.next(v->producer);
    const auto [q, dq] = writer_.rounded(v, scale, zero, before);
    if (integer_result) rounded_[v] = dq->output(0);
    if (integer_result && v->is_output()) {
      graph_.replace_uses(v, dq->output(0));
      graph_.set_input(q, 0, v);
    } else {
      for (const Use& use : uses)
        if (integer_result || plan_.nodes.contains(use.node))
          use.node->graph()->set_input(use.node, use.index, dq->output(0));
    }
    if (plan_.owner(v) != v) return;  // holds codes of another, which are within the limit
    const Grid& grid = grid_of(v);
    const int codes = grid.high - grid.low + 1;
    if (codes < 1 << bits(grid.type)) writer_.limit(q, grid.low - grid.zero_point, grid.high - grid.zero_point);
  }

  void remove_clamp(const Node* clamp) {
    Value* y = clamp->output(0);
    graph_.replace_uses(y, clamp->input(0));
    graph_.erase(const_cast<Node*>(clamp));
  }

  void quantize_weights(Node* node) {
    const Value* w = node->input(1);
    const float input_scale = grid_of(node->input(0)).scale;
    const int axis = weight_axis(*node);
    const Tensor* bias = node->input(2) ? node->input(2)->known_constant() : nullptr;
    const auto chosen = chosen_.find(node);
    const QuantizedWeight q =
        chosen != chosen_.end()
            ? chosen->second
            : quantize_weight(*w->known_constant(), spec_.per_tensor ? -1 : axis,
                              least_scales(*node, *w->known_constant(), bias, input_scale, spec_), spec_.weight_bits);
    const int dq_axis = spec_.per_tensor ? -1 : axis;
    const Stored codes = writer_.store(w, q, dq_axis);
    if (done_.floats.emplace(codes.codes->name, *w->constant).second)
      done_.weights.push_back(stored_weight(*node, *w, q, dq_axis, spec_));
    graph_.set_input(node, 1, writer_.dequantized(node, codes, w->name, dq_axis));
    if (!bias || spec_.target.rounds_inputs_only()) return;
    const QuantizedBias b = quantize_bias(bias->reshaped({bias->size()}), input_scale, q.scale);
    const std::string base = node->input(2)->name;
    const Stored stored = writer_.store(base, b);
    done_.floats.emplace(stored.codes->name, bias->reshaped({bias->size()}));
    graph_.set_input(node, 2, writer_.dequantized(node, stored, base, b.scale.rank() ? 0 : -1));
  }

  /// A constant operand, around zero. Of what works element by element each index of an axis has its own scale: such
  /// constants hold a number for each channel, of sizes that one scale cannot hold. They are no weights: few bits would
  /// save next to nothing and fall on all that the operator makes.
  void quantize_constant(Node* node, int index) {
    const Value* v = node->input(index);
    const int axis = spec_.per_tensor || !is_elementwise(*node) ? -1 : uneven_axis(*v->known_constant());
    const int bits = is_weighted(*node) ? spec_.weight_bits : std::max(spec_.weight_bits, spec_.activation_bits);
    const QuantizedWeight q = quantize_weight(*v->known_constant(), axis, {}, bits);
    graph_.set_input(node, index, writer_.dequantized(node, writer_.store(v, q, axis), v->name, axis));
  }

  /// A number as one step of its own size, which is exact. There is no integer division: a divisor becomes a factor.
  void quantize_scalar(Node* node, int index) {
    const Value* v = node->input(index);
    const float given = to_floats(*v->known_constant())[0];
    const float number = node->is("Div") ? 1 / given : given;
    if (node->is("Div")) node->op = "Mul";
    const int low = number < 0 ? -1 : 0;  // the code of the smaller of the number and zero
    const Tensor code = spec_.symmetric ? Tensor::scalar<int8_t>(static_cast<int8_t>(2 * low + 1))
                                        : Tensor::scalar<uint8_t>(static_cast<uint8_t>(low + 1));
    const Tensor zero =
        spec_.symmetric ? Tensor::scalar<int8_t>(0) : Tensor::scalar<uint8_t>(static_cast<uint8_t>(-low));
    const Stored stored =
        writer_.store(v->name, code.reshaped(v->constant->dims()), Tensor::scalar(std::fabs(number)), zero);
    graph_.set_input(node, index, writer_.dequantized(node, stored, v->name, -1));
  }

  Graph& graph_;
  CodeWriter writer_;
  const Plan& plan_;
  const std::map<std::string, Grid>& grids_;
  const Spec& spec_;
  const Rounded& chosen_;
  std::unordered_map<const Value*, std::string> owners_;
  std::map<std::string, GridValues> grid_values_;
  std::unordered_map<const Value*, const Value*> rounded_;
  Emitted done_;
};

}  // namespace

Emitted emit_qdq(Model& model, const Plan& plan, const std::map<std::string, Grid>& grids, const Spec& spec,
                 const Rounded& rounded) {
  Emitted done = Emitter(model, plan, grids, spec, rounded).run();
  remove_dead(model);
  return done;
}

}  // namespace mlopt::quantize
