#include "quantize/emit/dynamic.h"

#include <limits>

#include "core/rewrite/pass.h"
#include "core/tensor/picked.h"
#include "core/tensor/scaled.h"
#include "quantize/emit/weights.h"
#include "quantize/plan.h"
#include "quantize/uniform/params.h"

namespace mlopt::quantize {
namespace {

constexpr int64_t kAxesInputOpset = 18;
constexpr uint8_t kMiddle = 128;
constexpr float kMostCode = 127;  // from the middle

class DynamicEmitter {
 public:
  DynamicEmitter(Model& model, const Spec& spec) : model_(model), graph_(*model.graph), spec_(spec) {}

  Emitted run() {
    for (Node* node : graph_.nodes()) {
      const NodeView view(*node, model_.opset(node->domain));
      const auto product = is_product(view);
      if (!product) {
        if (!product.error().reason.empty()) done_.left[node->label()] = product.error().reason;
      } else if (node->is("Conv")) {
        done_.left[node->label()] = "runtimes have no fast dynamic convolution: w8a8 with --data quantizes it";
      } else if (!chosen(*node, spec_)) {
        done_.left[node->label()] = "excluded by --only or --skip";
      } else {
        rewrite(node);
      }
    }
    remove_dead(model_);
    for (size_t i = 0; i < results_.size(); ++i) done_.layers[i].result = results_[i]->name;
    return std::move(done_);
  }

 private:
  struct Activation {
    Value *codes, *scale, *zero_point;
    Value* peaks = nullptr;  ///< [.., 1] of rows that are rounded by themselves, instead of the scale
  };

  /// Products that read one activation share its quantization.
  Activation quantized(Value* x, const Node* before) {
    const auto it = activations_.find(x);
    if (it != activations_.end()) return it->second;
    return activations_.emplace(x, spec_.per_token ? by_token(x, before) : whole(x, before)).first->second;
  }

  Activation whole(Value* x, const Node* before) {
    const Node* q = graph_.add_op("DynamicQuantizeLinear", {x}, {}, before, x->name + "_quantized", 3);
    return {q->output(0), q->output(1), q->output(2)};
  }

  /// Each row in steps of its own, a 127th of its largest magnitude (Yao et al. 2022, "ZeroQuant").
  Activation by_token(Value* x, const Node* before) {
    const auto op = [&](const char* name, std::vector<Value*> inputs, std::vector<Attr> attrs = {}) {
      return graph_.add_op(name, std::move(inputs), std::move(attrs), before, x->name + "_" + name)->output(0);
    };
    std::vector<Value*> reduced = {op("Abs", {x})};
    std::vector<Attr> attrs;
    if (model_.opset() >= kAxesInputOpset)
      reduced.push_back(shared("last_axis", Tensor::ints({-1})));
    else
      attrs.push_back({"axes", std::vector<int64_t>{-1}, {}});
    Value* floor = shared("least_peak", Tensor::scalar(std::numeric_limits<float>::min()));  // of rows of zeros
    Value* peaks = op("Max", {op("ReduceMax", std::move(reduced), std::move(attrs)), floor});
    Value* middle = shared("middle_code", Tensor::scalar(kMiddle));
    Value* step = shared("token_step", Tensor::scalar(1 / kMostCode));
    return {op("QuantizeLinear", {op("Div", {x, peaks}), step, middle}), nullptr, middle, peaks};
  }

  /// A constant that all products share.
  Value* shared(const char* name, Tensor tensor) {
    Value*& value = shared_[name];
    if (!value) value = graph_.add_constant(name, std::move(tensor));
    return value;
  }

  struct Stored {
    Value *codes, *scale, *zero_point;
  };

  /// Products that read one weight along the same axis share its codes.
  Stored stored(const Node& node) {
    const int axis = weight_axis(node);
    const Value* w = node.input(1);
    const auto it = weights_.find({w, axis});
    if (it != weights_.end()) return it->second;
    const QuantizedWeight q = dynamic_codes(node, spec_);
    done_.weights.push_back(stored_weight(node, *w, q, spec_.per_tensor ? -1 : axis, spec_));
    const Stored made = {
        graph_.add_constant(w->name + "_quantized", axis == 0 ? transposed(q.codes) : q.codes),
        graph_.add_constant(w->name + "_scale",
                            spec_.per_token ? scaled(q.scale, static_cast<double>(1 / kMostCode)) : q.scale),
        graph_.add_constant(w->name + "_zero_point", q.zero_point)};
    return weights_.emplace(std::pair(w, axis), made).first->second;
  }

  void rewrite(Node* node) {
    const Activation x = quantized(node->input(0), node);
    const auto [codes, scale, zero] = stored(*node);
    const std::string base = node->output(0)->name;
    done_.layers.push_back(layer_of(*node));
    const auto op = [&](const char* name, std::vector<Value*> inputs, std::vector<Attr> attrs = {}) {
      return graph_.add_op(name, std::move(inputs), std::move(attrs), node, base + "_" + name)->output(0);
    };
    Value* sum = op("MatMulInteger", {x.codes, codes, x.zero_point, zero});
    Value* real = op("Cast", {sum}, {{"to", int64_t{static_cast<int64_t>(DType::kF32)}, {}}});
    Value* y =
        x.peaks ? op("Mul", {op("Mul", {real, scale}), x.peaks}) : op("Mul", {real, op("Mul", {x.scale, scale})});
    if (node->input(2)) y = op("Add", {y, node->input(2)});
    y->producer->name = node->name;
    graph_.replace_uses(node->output(0), y);
    results_.push_back(y);
    graph_.erase(node);
  }

  Model& model_;
  Graph& graph_;
  const Spec& spec_;
  std::map<Value*, Activation> activations_;
  std::map<std::pair<const Value*, int>, Stored> weights_;  ///< by the axis of their outputs
  std::map<std::string, Value*> shared_;
  std::vector<const Value*> results_;
  Emitted done_;
};

}  // namespace

QuantizedWeight dynamic_codes(const Node& product, const Spec& spec) {
  const Tensor& weight = *product.input(1)->known_constant();
  const int axis = weight_axis(product);
  const auto room = spec.pairs_saturate() ? pair_room(weight, axis) : std::vector<float>{};
  return quantize_weight(weight, spec.per_tensor ? -1 : axis, room);
}

std::vector<const Node*> dynamic_products(const Model& model, const Spec& spec) {
  std::vector<const Node*> found;
  for (const Node* node : model.graph->nodes())
    if (!node->is("Conv") && is_product(NodeView(*node, model.opset(node->domain))) && chosen(*node, spec))
      found.push_back(node);
  return found;
}

Emitted emit_dynamic(Model& model, const Spec& spec) { return DynamicEmitter(model, spec).run(); }

}  // namespace mlopt::quantize
