#include "prune/structure/mask_normalization.h"

#include <numeric>

#include "core/ir/view.h"
#include "core/tensor/cast.h"

namespace mlopt::prune {
namespace {

/// Writes operators before a node, in float32 or double.
class Writer {
 public:
  Writer(Node& node, DType type) : node_(node), graph_(*node.graph()), type_(type) {}

  Value* op(const char* name, std::vector<Value*> inputs, std::vector<Attr> attrs = {}) const {
    return graph_.add_op(name, std::move(inputs), std::move(attrs), &node_, "masked")->output(0);
  }
  Value* number(const std::vector<float>& x, const Dims& dims) const {
    return graph_.add_constant("masked", cast(Tensor::of<float>(dims, x), type_));
  }
  Value* wide(Value* v) const { return v->type.dtype == type_ ? v : as(v, type_); }
  Value* as(Value* v, DType type) const { return op("Cast", {v}, {{"to", static_cast<int64_t>(type), ""}}); }

 private:
  Node& node_;
  Graph& graph_;
  DType type_;
};

}  // namespace

void mask_normalization(Model& model, Node& node, const std::vector<float>& mask) {
  const NodeView view(node, model.opset(node.domain));
  const bool skip = node.op.starts_with("Skip"), centered = node.op.find("LayerNorm") != std::string::npos &&
                                                            node.op.find("Simplified") == std::string::npos;
  const DType type = node.input(0)->type.dtype;
  const Writer w(node, type == DType::kF64 ? type : DType::kF32);
  const auto n = static_cast<int64_t>(mask.size());
  std::vector<float> share = mask;
  const float kept = std::accumulate(mask.begin(), mask.end(), 0.0F);
  for (float& x : share) x /= kept;
  Value *gate = w.number(mask, {n}), *mean = w.number(share, {n, 1});
  Value* x = w.wide(node.input(0));
  if (skip) x = w.op("Add", {x, w.wide(node.input(1))});
  if (Value* bias = skip ? node.input(centered ? 4 : 3) : nullptr) x = w.op("Add", {x, w.wide(bias)});
  Value* apart = centered ? w.op("Sub", {x, w.op("MatMul", {x, mean})}) : x;
  apart = w.op("Mul", {apart, gate});
  Value* squares = w.op("MatMul", {w.op("Mul", {apart, apart}), mean});
  Value* epsilon = w.number({view.get_float("epsilon", skip ? 1e-12F : 1e-5F)}, {});
  Value* y = w.op("Div", {apart, w.op("Sqrt", {w.op("Add", {squares, epsilon})})});
  y = w.op("Mul", {y, w.wide(node.input(skip ? 2 : 1))});
  if (Value* shift = centered ? node.input(skip ? 3 : 2) : nullptr) y = w.op("Add", {y, w.wide(shift)});
  Graph& graph = *node.graph();
  const auto replace = [&](Value* old, Value* made) {
    made = w.as(made, old->type.dtype);
    made->type = old->type;
    graph.replace_uses(old, made);
  };
  replace(node.output(0), y);
  if (Value* sum = node.output(3)) replace(sum, x);
  graph.erase(&node);
}

}  // namespace mlopt::prune
