#include "core/ir/activations.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "core/base/checked.h"

namespace mlopt {
namespace {

/// Follows the schedule of one graph.
class Walk {
 public:
  explicit Walk(const Graph& graph) : graph_(graph), nodes_(graph.nodes()) { find_last_uses(); }

  ActivationPeak run() {
    for (const Value* input : graph_.inputs()) alive_ += bytes(*input);
    peak_.bytes = alive_;
    for (size_t step = 0; step < nodes_.size(); ++step) visit(*nodes_[step], step);
    return peak_;
  }

 private:
  void find_last_uses() {
    std::unordered_map<const Node*, size_t> place;
    for (size_t step = 0; step < nodes_.size(); ++step) place[nodes_[step]] = step;
    for (const Value* value : graph_.values()) {
      if (value->constant || value->is_output()) continue;
      size_t last = value->producer ? place[value->producer] : 0;
      for (const Use& use : value->uses) last = std::max(last, place[own_node(use.node)]);
      freed_after_[last].push_back(value);
    }
  }

  /// The node of this graph in whose bodies `node` lies; itself when it is not nested.
  const Node* own_node(const Node* node) const {
    while (node->graph() != &graph_) node = node->graph()->owner;
    return node;
  }

  void visit(const Node& node, size_t step) {
    for (const Value* output : node.outputs()) {
      if (output) alive_ += bytes(*output);
    }
    int64_t inside = 0;
    for (const Graph* body : node.bodies()) {
      const ActivationPeak peak = activation_peak(*body);
      inside = std::max(inside, peak.bytes);
      peak_.unknown_values += peak.unknown_values;
    }
    peak_.bytes = std::max(peak_.bytes, alive_ + inside);
    for (const Value* value : freed_after_[step]) alive_ -= known_bytes(*value).value_or(0);
  }

  int64_t bytes(const Value& value) {
    const auto known = known_bytes(value);
    if (!known) ++peak_.unknown_values;
    return known.value_or(0);
  }

  static std::optional<int64_t> known_bytes(const Value& value) {
    if (value.constant) return 0;
    const auto dims = value.type.static_dims();
    if (!dims) return std::nullopt;
    constexpr int64_t kMost = int64_t{1} << 48;  // larger shapes are mistakes, and their sums would overflow
    std::optional<int64_t> count = 1;
    for (const int64_t dim : *dims) count = count ? checked_mul(*count, dim) : count;
    if (!count || *count < 0 || *count > kMost) return std::nullopt;
    return static_cast<int64_t>(packed_bytes(value.type.dtype, *count));
  }

  const Graph& graph_;
  std::vector<Node*> nodes_;
  std::unordered_map<size_t, std::vector<const Value*>> freed_after_;
  int64_t alive_ = 0;
  ActivationPeak peak_;
};

}  // namespace

ActivationPeak activation_peak(const Graph& graph) { return Walk(graph).run(); }

}  // namespace mlopt
