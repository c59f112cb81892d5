#include "quantize/emit/read_qdq.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/ir/view.h"
#include "core/tensor/cast.h"
#include "quantize/emit/weights.h"
#include "quantize/restore/passes.h"

namespace mlopt::quantize {
namespace {

/// Codes that are constant, behind a DequantizeLinear?
bool is_coded(const Value* value) {
  return value && value->producer && value->producer->is("DequantizeLinear") &&
         value->producer->input(0)->known_constant();
}

class Reader {
 public:
  explicit Reader(Model& model) : model_(model), graph_(*model.graph) {}

  Emitted run() {
    for (Node* node : graph_.nodes()) {
      if (is_weighted(*node) && is_coded(node->input(1))) read_layer(*node);
      const Value* codes = node->is("DequantizeLinear") ? node->input(0) : nullptr;
      if (codes && codes->producer && codes->producer->is("QuantizeLinear")) read_activation(*node, *codes->producer);
    }
    return std::move(found_);
  }

 private:
  [[noreturn]] void refuse(const Node& node, const char* why) const {
    input_error(fmt::format("codes that cannot be trained: {}", why),
                fmt::format("{} of {}", node.label(), model_.path), "train the model that it was made of, with --qat");
  }

  void read_layer(const Node& layer) {
    Node& dq = *layer.input(1)->producer;
    settle(dq);
    const Tensor &codes = *dq.input(0)->known_constant(), &scale = *dq.input(1)->constant;
    if (!is_signed(codes.dtype())) refuse(dq, "the weight's codes have no sign");
    if (const std::vector<int64_t> zeros = to_ints(*dq.input(2)->constant);
        std::any_of(zeros.begin(), zeros.end(), [](int64_t zero) { return zero != 0; }))
      refuse(dq, "the weight has zero points other than 0");
    if (scale.rank() > 0) {
      const int64_t axis = NodeView(dq, 13).get_int("axis", 1), rank = codes.rank();
      if ((axis + rank) % rank != weight_axis(layer)) refuse(dq, "the weight has scales along another axis");
      dq.set_attr("axis", int64_t{weight_axis(layer)});
    }
    keep(dq);
    if (!is_coded(layer.input(2))) return;
    settle(*layer.input(2)->producer);
    keep(*layer.input(2)->producer);
  }

  void read_activation(Node& dq, Node& q) {
    settle(q);
    settle(dq);
    if (dq.input(1)->constant->rank() > 0) refuse(dq, "an activation has scales along an axis");
    for (const int i : {1, 2})
      if (to_doubles(*dq.input(i)->constant) != to_doubles(*q.input(i)->constant))
        refuse(dq, "the QuantizeLinear before it has another scale or zero point");
  }

  /// The numbers that the codes stand for.
  void keep(const Node& dq) {
    const Tensor &codes = *dq.input(0)->known_constant(), &scale = *dq.input(1)->constant;
    const int64_t axis = scale.rank() == 0 ? 0 : NodeView(dq, 13).get_int("axis", 0);
    Tensor numbers = decoded(codes, scale, nullptr, axis);
    found_.floats.emplace(dq.input(0)->name, std::move(numbers));
  }

  /// One scale is a scalar, and a zero point is there.
  void settle(Node& node) {
    const Value *scale = node.input(1), *zero = node.input(2);
    if (node.attr("block_size")) refuse(node, "they are in blocks");
    if (!scale->known_constant() || scale->constant->dtype() != DType::kF32 || (zero && !zero->known_constant()))
      refuse(node, "the scale is no float32 constant");
    if (!zero) add_zero(node, node.is("QuantizeLinear") ? node.output(0) : node.input(0));
    if (scale->constant->size() != 1) return;
    for (const int i : {1, 2}) {
      Value*& scalar = scalars_[node.input(i)];
      if (node.input(i)->constant->rank() == 0) continue;
      if (!scalar) scalar = graph_.add_constant(node.input(i)->name, node.input(i)->constant->reshaped({}));
      graph_.set_input(&node, i, scalar);
    }
    node.remove_attr("axis");
  }

  void add_zero(Node& node, const Value* codes) {
    const DType type = codes->constant ? codes->constant->dtype() : codes->type.dtype;
    Value* zero =
        graph_.add_constant(node.input(1)->name + "_zero_point", Tensor::zeros(type, node.input(1)->constant->dims()));
    graph_.set_input(&node, 2, zero);
  }

  Model& model_;
  Graph& graph_;
  Emitted found_;
  std::map<const Value*, Value*> scalars_;
};

}  // namespace

bool has_coded_layers(const Model& model) {
  const std::vector<Node*> nodes = model.graph->nodes();
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const Node* node) { return is_weighted(*node) && is_coded(node->input(1)); });
}

Emitted read_qdq(Model& model) { return Reader(model).run(); }

}  // namespace mlopt::quantize
