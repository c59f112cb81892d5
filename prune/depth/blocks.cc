#include "prune/depth/blocks.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "prune/curves.h"

namespace mlopt::prune {
namespace {

/// Additions of which what stays may be a sum itself: attention and neurons side by side read the same x.
constexpr int kSums = 2;

bool is_sum(const Node& node) {
  return (node.is("Add") || node.is("Sum")) && node.inputs().size() == 2 && node.input(0) && node.input(1);
}

/// What sums products: tables that are added or multiplied, as masks are, make no layer.
bool is_layer(const Node& node) {
  constexpr std::string_view kLayers[] = {"Conv", "ConvTranspose",    "Gemm", "MatMul", "LSTM",
                                          "GRU",  "DequantizeLinear", "RNN",  "Einsum"};
  return !node.domain.empty() || std::find(std::begin(kLayers), std::end(kLayers), node.op) != std::end(kLayers);
}

bool is_weight(const Value& v) {
  if (!v.known_constant()) return false;
  const Dims& dims = v.known_constant()->dims();
  return std::count_if(dims.begin(), dims.end(), [](int64_t n) { return n > 1; }) >= 2;
}

/// Sizes that are free on both sides are taken for equal: the proof, which runs the model, sees where they are not.
bool same_type(const Value& a, const Value& b) {
  if (!a.type.is_tensor() || !b.type.is_tensor() || a.type.dtype != b.type.dtype || !a.type.dims || !b.type.dims)
    return false;
  return std::equal(a.type.dims->begin(), a.type.dims->end(), b.type.dims->begin(), b.type.dims->end(),
                    [](const Dim& x, const Dim& y) { return x == y || (!x.value() && !y.value()); });
}

class Finder {
 public:
  explicit Finder(const Model& model) : graph_(*model.graph) {
    for (const Node* node : graph_.nodes()) place_[node] = static_cast<int64_t>(place_.size());
  }

  Blocks run() {
    Blocks found;
    for (const Node* node : graph_.nodes())
      if (is_sum(*node)) look_at(*node, found);
    leave_outer(found);
    std::vector<std::string> names;
    for (const Block& block : found.blocks) names.push_back(block.layers.front()->called());
    names = told_apart(std::move(names));
    for (size_t i = 0; i < names.size(); ++i) found.blocks[i].name = names[i];
    return found;
  }

 private:
  void look_at(const Node& join, Blocks& found) const {
    if (join.input(0)->known_constant() || join.input(1)->known_constant()) return;
    std::string why = "neither side comes from the other: the shortcut has layers of its own, or there is none";
    for (const int branch : {0, 1}) {
      const Value &f = *join.input(branch), &stays = *join.input(1 - branch);
      if (!comes_from_sum(f, stays, kSums)) continue;
      Block block = block_of(join, branch);
      if (block.layers.empty()) return;  // part of an activation
      if (same_type(stays, *join.output(0))) {
        found.blocks.push_back(std::move(block));
        return;
      }
      why = "without the block the shape would be another";
    }
    found.left.try_emplace(join.called(), why);
  }

  bool comes_from_sum(const Value& v, const Value& stays, int sums) const {
    if (comes_from(v, stays)) return true;
    if (sums == 0 || !stays.producer || !is_sum(*stays.producer)) return false;
    return comes_from_sum(v, *stays.producer->input(0), sums - 1) ||
           comes_from_sum(v, *stays.producer->input(1), sums - 1);
  }

  /// Is `v` computed from `origin`? Nodes before that which makes the origin cannot be.
  bool comes_from(const Value& v, const Value& origin) const {
    if (origin.known_constant() || &v == &origin) return false;
    const int64_t first = origin.producer ? place_of(origin.producer) : -1;
    std::unordered_set<const Node*> seen;
    std::vector<const Node*> open{v.producer};
    while (!open.empty()) {
      const Node* node = open.back();
      open.pop_back();
      if (!node || place_of(node) <= first || !seen.insert(node).second) continue;
      for (const Value* input : node->inputs()) {
        if (input == &origin) return true;
        if (input) open.push_back(input->producer);
      }
    }
    return false;
  }

  int64_t place_of(const Node* node) const {
    const auto at = place_.find(node);
    return at == place_.end() ? -1 : at->second;
  }

  /// What nothing reads once the join does not: nodes all of whose readers are such.
  Block block_of(const Node& join, int branch) const {
    Block block{{}, &join, branch, {}, {}, {}};
    std::unordered_map<const Value*, size_t> read;
    std::unordered_set<const Node*> dead;
    std::vector<const Value*> open{join.input(branch)};
    while (!open.empty()) {
      const Value* v = open.back();
      open.pop_back();
      const bool unread = ++read[v] == v->uses.size() && !v->is_output();
      const Node* node = v->producer;
      if (!unread || !node || node->graph() != &graph_ || !node->bodies().empty()) continue;
      const auto& made = node->outputs();
      const auto unused = [&](const Value* y) { return !y || (!y->is_output() && read[y] == y->uses.size()); };
      if (!std::all_of(made.begin(), made.end(), unused) || !dead.insert(node).second) continue;
      for (const Value* input : node->inputs())
        if (input) open.push_back(input);
    }
    block.nodes.assign(dead.begin(), dead.end());
    std::sort(block.nodes.begin(), block.nodes.end(),
              [&](const Node* a, const Node* b) { return place_of(a) < place_of(b); });
    for (const Node* node : block.nodes)
      for (const Value* input : node->inputs()) {
        if (!input || !is_layer(*node) || !is_weight(*input)) continue;
        block.weights.push_back(input);
        if (block.layers.empty() || block.layers.back() != node) block.layers.push_back(node);
      }
    return block;
  }

  static void leave_outer(Blocks& found) {
    std::unordered_set<const Node*> joins;
    for (const Block& block : found.blocks) joins.insert(block.join);
    std::erase_if(found.blocks, [&](const Block& block) {
      const bool outer =
          std::any_of(block.nodes.begin(), block.nodes.end(), [&](const Node* n) { return joins.contains(n); });
      if (outer) found.left.try_emplace(block.join->called(), "it joins a block that is made of other blocks");
      return outer;
    });
  }

  const Graph& graph_;
  std::unordered_map<const Node*, int64_t> place_;
};

}  // namespace

Blocks find_blocks(const Model& model) { return Finder(model).run(); }

}  // namespace mlopt::prune
