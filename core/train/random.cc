#include "core/train/random.h"

#include <algorithm>
#include <array>

#include "core/ir/view.h"
#include "core/tensor/cast.h"
#include "core/train/builder.h"

namespace mlopt::train {
namespace {

constexpr std::array<std::string_view, 5> kRandom{"Bernoulli", "RandomNormal", "RandomNormalLike", "RandomUniform",
                                                  "RandomUniformLike"};
constexpr int64_t kBehindDropouts = 1 << 20;  // of the numbers that nodes have beside a key

bool is_random(const Node& node) { return node.domain.empty() && std::ranges::count(kRandom, node.op) > 0; }

bool drops(const Model& model, const Node& node) {
  const NodeView view(node, model.opset());
  if (view.opset() < 7) return view.get_int("is_test", 0) == 0;
  return view.opset() >= 12 && node.input(2) && view.number("", 2, 0) != 0;
}

/// Takes one node after the other.
class Seeder {
 public:
  Seeder(Model& model, Node* first, Value* keys, TypeRule types) : model_(model), types_(types), at_(first) {
    key_ = op("Gather", {keys, graph().add_constant("train/indices", Tensor::ints({0}))});
  }

  void replace(Node* node, int64_t number) {
    at_ = node;
    number_ = number;
    const std::string name = node->output(0)->name;
    Value* made = node->is("Bernoulli") ? drawn(node->input(0)) : scaled(NodeView(*node, model_.opset()));
    made = converted(made, node->output(0)->type.dtype);
    graph().replace_uses(node->output(0), made);
    graph().erase(node);
    if (made->name != name) graph().rename(made, name);
  }

 private:
  Graph& graph() { return *model_.graph; }

  Value* op(const char* name, std::vector<Value*> inputs, std::vector<Attr> attrs = {}) {
    Node* made = graph().add_op(name, std::move(inputs), std::move(attrs), at_, "train");
    infer(model_, *made, types_);
    return made->output(0);
  }

  Value* converted(Value* x, DType type) {
    return x->type.dtype == type ? x : op("Cast", {x}, {{"to", static_cast<int64_t>(type), {}}});
  }

  /// Numbers in float32, in the shape of what the node gives.
  Value* numbers(const char* kind) {
    const Value* old = at_->output(0);
    const auto dims = old->type.static_dims();
    Value* shape = dims ? graph().add_constant("train/indices", Tensor::ints(*dims)) : op("Shape", {at_->input(0)});
    Value* like = op("ConstantOfShape", {shape});
    Node* made = graph().add_op(kind, {like, key_}, {{"node", number_, {}}}, at_, "train", 1, "mlopt");
    made->output(0)->type = Type::tensor(DType::kF32, old->type.dims);
    return made->output(0);
  }

  /// 1 with the probability that is given.
  Value* drawn(Value* share) { return op("Less", {numbers("SeededUniform"), converted(share, DType::kF32)}); }

  Value* scaled(const NodeView& view) {
    const bool normal = view.node().op.starts_with("RandomNormal");
    const float first = normal ? view.get_float("mean", 0) : view.get_float("low", 0);
    const float span = normal ? view.get_float("scale", 1) : view.get_float("high", 1) - first;
    const auto number = [&](float value) { return graph().add_constant("train/number", Tensor::scalar(value)); };
    Value* made = op("Mul", {numbers(normal ? "SeededNormal" : "SeededUniform"), number(span)});
    return op("Add", {made, number(first)});
  }

  Model& model_;
  TypeRule types_;
  Node* at_;
  Value* key_ = nullptr;
  int64_t number_ = 0;
};

}  // namespace

std::vector<Node*> random_nodes(const Model& model) {
  constexpr int64_t kConstantOfShape = 9;  // the opset that has it
  std::vector<Node*> found;
  if (model.opset() < kConstantOfShape) return found;
  for (Node* node : model.graph->nodes())
    if (is_random(*node)) found.push_back(node);
  return found;
}

void seed_random(Model& model, const std::vector<Node*>& nodes, Value* keys, TypeRule types) {
  if (nodes.empty()) return;
  Seeder seeder(model, nodes.front(), keys, types);
  for (size_t i = 0; i < nodes.size(); ++i) seeder.replace(nodes[i], kBehindDropouts + static_cast<int64_t>(i));
}

std::vector<std::string> repeating(const Model& model) {
  std::vector<std::string> labels;
  for (const Node* node : all_nodes(*model.graph))
    if (is_random(*node) || node->is("Multinomial") || (node->is("Dropout") && drops(model, *node)))
      labels.push_back(node->label());
  return labels;
}

}  // namespace mlopt::train
