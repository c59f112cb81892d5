#include "core/train/recompute.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/tensor/dtype.h"

namespace mlopt::train {
namespace {

bool is_random(const Node& node) {
  return node.op == "Dropout" || node.op == "Bernoulli" || node.op == "Multinomial" || node.op.starts_with("Random");
}

int64_t bytes_of(const Value& value) {
  const auto dims = value.type.static_dims();
  return dims ? static_cast<int64_t>(packed_bytes(value.type.dtype, element_count(*dims))) : 0;
}

/// A forward pass cut into pieces, and what to compute again.
class Cut {
 public:
  Cut(const Graph& graph, const Node* last, int64_t pieces) : pieces_(pieces) {
    bool forward = true;
    for (Node* node : graph.nodes()) {
      (forward ? forward_ : backward_).push_back(node);
      forward = forward && node != last;
    }
    for (size_t i = 0; i < forward_.size(); ++i) piece_[forward_[i]] = 0;
    for (const Node* node : backward_)
      for (const Value* v : node->inputs())
        if (v && piece_.contains(v->producer)) saved_.insert(v);
    number_pieces();
  }

  /// The nodes of a piece to be computed again, in order; none where nothing of it is worth that.
  std::vector<Node*> again(int64_t piece) const {
    std::unordered_set<const Node*> chosen;
    std::vector<const Value*> open;
    for (const Value* v : saved_)
      if (is_in(v, piece)) open.push_back(v);
    while (!open.empty()) {
      const Node* node = open.back()->producer;
      open.pop_back();
      if (!chosen.insert(node).second) continue;
      for (const Value* v : node->inputs())
        if (v && is_in(v, piece)) open.push_back(v);
    }
    std::vector<Node*> nodes;
    for (Node* node : forward_)
      if (chosen.contains(node)) nodes.push_back(node);
    return nodes;
  }

  /// The first node of the backward pass that reads what the nodes give.
  Node* first_reader(const std::vector<Node*>& nodes) const {
    const std::unordered_set<const Node*> given(nodes.begin(), nodes.end());
    for (Node* node : backward_)
      for (const Value* v : node->inputs())
        if (v && given.contains(v->producer)) return node;
    return nullptr;
  }

  bool in_backward(const Node* node) const { return !piece_.contains(node); }

  /// Given and only read within the piece and the backward pass, and given the same a second time.
  bool is_in(const Value* v, int64_t piece) const {
    const auto at = piece_.find(v->producer);
    if (at == piece_.end() || at->second != piece || v->is_output()) return false;
    if (is_random(*v->producer) || !v->producer->bodies().empty()) return false;
    return std::all_of(v->uses.begin(), v->uses.end(), [&](const Use& use) {
      const auto reader = piece_.find(use.node);
      return use.node->graph() == v->graph && (reader == piece_.end() || reader->second == piece);
    });
  }

  size_t nodes() const { return forward_.size(); }

 private:
  /// By the bytes that the backward pass reads of them.
  void number_pieces() {
    const auto bytes_saved = [&](const Node* node) {
      int64_t bytes = 0;
      for (const Value* v : node->outputs())
        if (v && saved_.contains(v)) bytes += bytes_of(*v);
      return bytes;
    };
    double total = 1, sum = 0;
    for (const Node* node : forward_) total += static_cast<double>(bytes_saved(node));
    for (const Node* node : forward_) {
      piece_[node] = static_cast<int64_t>(sum / total * static_cast<double>(pieces_));
      sum += static_cast<double>(bytes_saved(node));
    }
  }

  int64_t pieces_;
  std::vector<Node*> forward_, backward_;
  std::unordered_map<const Node*, int64_t> piece_;
  std::unordered_set<const Value*> saved_;
};

/// Copies of the nodes before `before`, which the backward pass reads from now on.
void repeat(Graph& graph, const Cut& cut, int64_t piece, const std::vector<Node*>& nodes, const Node* before) {
  std::unordered_map<const Value*, Value*> copies;
  for (const Node* node : nodes) {
    std::vector<Value*> inputs, outputs;
    for (Value* v : node->inputs()) {
      const auto copy = copies.find(v);
      inputs.push_back(copy == copies.end() ? v : copy->second);
    }
    for (const Value* v : node->outputs()) {
      outputs.push_back(v ? graph.add_value(graph.fresh_name(v->name + "/again"), v->type) : nullptr);
      if (v) copies[v] = outputs.back();
    }
    graph.add_node(node->domain, node->op, inputs, outputs, node->attrs, before)->name = "";
  }
  for (const auto& [v, copy] : copies) {
    if (!cut.is_in(v, piece)) continue;  // kept: later pieces are computed from it
    for (const Use& use : std::vector<Use>(v->uses))
      if (cut.in_backward(use.node)) graph.set_input(use.node, use.index, copy);
  }
}

Recomputed with_pieces(Model& model, const std::string& loss, int64_t pieces) {
  Graph& graph = *model.graph;
  Recomputed done{.pieces = pieces, .bytes_before = bytes_at_once(graph)};
  const Cut cut(graph, graph.find(loss)->producer, pieces);
  for (int64_t piece = 0; piece + 1 < pieces; ++piece) {
    const std::vector<Node*> nodes = cut.again(piece);
    const Node* before = cut.first_reader(nodes);
    if (!before) continue;
    repeat(graph, cut, piece, nodes, before);
    done.nodes += static_cast<int64_t>(nodes.size());
  }
  done.bytes_after = bytes_at_once(graph);
  return done;
}

}  // namespace

int64_t bytes_at_once(const Graph& graph) {
  std::unordered_map<const Value*, size_t> last;
  const std::vector<Node*> nodes = graph.nodes();
  for (size_t i = 0; i < nodes.size(); ++i)
    for (const Value* v : nodes[i]->inputs())
      if (v) last[v] = i;
  std::vector<int64_t> freed(nodes.size() + 1);
  int64_t now = 0, peak = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const Value* v : nodes[i]->outputs()) {
      if (!v) continue;
      now += bytes_of(*v);
      const auto end = last.find(v);
      freed[v->is_output() ? nodes.size() : end == last.end() ? i : end->second] += bytes_of(*v);
    }
    peak = std::max(peak, now);
    now -= freed[i];
  }
  return peak;
}

Recompute parse_recompute(std::string_view text) {
  if (text.empty()) return {};
  if (text == "sqrt") return {true, 0};
  const auto megabytes = parse_int(text);
  if (!megabytes || *megabytes < 1 || *megabytes > (1 << 30))
    usage_error(fmt::format("'{}' is neither sqrt nor a number of megabytes", text), "--recompute");
  return {true, *megabytes * 1'000'000};
}

Recomputed recompute(Model& model, const std::string& loss, const Recompute& how) {
  int64_t nodes = 0;
  for (const Node* node : model.graph->nodes()) {
    ++nodes;
    if (node == model.graph->find(loss)->producer) break;
  }
  if (how.bytes == 0) return with_pieces(model, loss, std::llround(std::sqrt(static_cast<double>(nodes))));
  int64_t least = INT64_MAX;
  for (int64_t pieces = 1; pieces <= nodes; pieces += std::max<int64_t>(1, pieces / 2)) {
    Model trial = clone(model);
    const Recomputed done = with_pieces(trial, loss, pieces);
    least = std::min(least, done.bytes_after);
    if (done.bytes_after > how.bytes) continue;
    model = std::move(trial);
    return done;
  }
  unsupported_error(fmt::format("no cut of the forward pass fits: the least is {} MB", least / 1'000'000 + 1),
                    "--recompute", "allow more, or take smaller portions (--accumulate)");
}

}  // namespace mlopt::train
