#include "core/train/offload.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <vector>

#include "core/ir/typed_op.h"
#include "core/tensor/dtype.h"
#include "core/train/recompute.h"

namespace mlopt::train {
namespace {

/// Nodes between the last reader in the forward pass and the first in the backward pass: fewer run while the copies
/// have hardly ended.
constexpr int64_t kLeastNodes = 8;

bool is_view(const Node& node) {
  static const std::set<std::string_view> kViews{"Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"};
  return node.domain.empty() && kViews.contains(node.op);
}

class Offload {
 public:
  Offload(Model& model, const std::string& loss) : graph_(*model.graph) {
    for (Node* node : graph_.nodes()) {
      at_[node] = kApart * static_cast<int64_t>(order_.size());
      order_.push_back(node);
    }
    end_ = at_.at(graph_.find(loss)->producer);
  }

  /// Views that the backward pass reads are taken again there, so that what they lie in need not stay.
  void repeat_views() {
    for (size_t k = order_.size(); k-- > 0;) {
      Node* node = order_[k];
      if (at_.at(node) > end_ || !is_view(*node)) continue;
      Value* v = node->output(0);
      if (!is_movable(v)) continue;
      Node* reader = first_back(v);
      if (!reader) continue;
      Value* again = graph_.add_value(graph_.fresh_name(v->name + "/again"), v->type);
      const Node* copy = graph_.add_node(node->domain, node->op, node->inputs(), {again}, node->attrs, reader);
      at_[copy] = at_.at(reader) - 1;
      read_back(v, again, copy);
    }
  }

  void move_values(int64_t least, Offloaded& done) {
    std::vector<Moved> all;
    for (const Node* node : order_)
      for (Value* v : node->outputs()) {
        if (at_.at(node) > end_ || !v || !is_movable(v)) continue;
        const auto dims = v->type.static_dims();
        const int64_t bytes = dims ? static_cast<int64_t>(packed_bytes(v->type.dtype, element_count(*dims))) : 0;
        Node* reader = bytes < least ? nullptr : first_back(v);
        const int64_t last = last_forward(v);
        if (!reader || at_.at(reader) - last < kLeastNodes * kApart) continue;
        all.push_back({v, order_[static_cast<size_t>(last / kApart) + 1], reader});
        done.bytes += bytes;
      }
    done.values = static_cast<int64_t>(all.size());
    const auto by = [&](const Node* Moved::*node) {
      std::stable_sort(all.begin(), all.end(),
                       [&](const Moved& a, const Moved& b) { return at_.at(a.*node) < at_.at(b.*node); });
    };
    by(&Moved::behind);
    begin_moves(all);
    by(&Moved::reader);
    bring_back(all);
  }

 private:
  static constexpr int64_t kApart = 1 << 16;  // room for nodes that are put between two

  /// Read by nodes of the main graph only, and not by who runs it.
  bool is_movable(const Value* v) const {
    return !v->is_output() && !v->constant && v->type.is_tensor() &&
           std::all_of(v->uses.begin(), v->uses.end(), [&](const Use& use) { return use.node->graph() == &graph_; });
  }
  Node* first_back(const Value* v) const {
    Node* first = nullptr;
    for (const Use& use : v->uses)
      if (at_.at(use.node) > end_ && (!first || at_.at(use.node) < at_.at(first))) first = use.node;
    return first;
  }
  int64_t last_forward(const Value* v) const {
    int64_t last = at_.at(v->producer);
    for (const Use& use : v->uses)
      if (at_.at(use.node) <= end_) last = std::max(last, at_.at(use.node));
    return last;
  }
  void read_back(Value* from, Value* to, const Node* but = nullptr) {
    for (const Use& use : std::vector<Use>(from->uses))
      if (use.node != but && at_.at(use.node) > end_ && !use.node->op.starts_with("ToHost"))
        graph_.set_input(use.node, use.index, to);
  }

  /// A value, the node before which it goes to the host, and the one before which it comes back.
  struct Moved {
    Value* value;
    const Node *behind, *reader;
    int64_t place = 0;
    Value* token = nullptr;
  };

  Value* add(const char* op, const Moved& moved, std::vector<Value*> from, const Type& type, const Node* before) {
    Value* made = add_typed_op(graph_, op, std::move(from), {{"place", moved.place, {}}}, {type},
                               moved.value->name + "/" + op)[0];
    graph_.move_before(made->producer, before);
    at_[made->producer] = at_.at(before) - 1;
    return made;
  }

  /// `all` in the order in which they go.
  void begin_moves(std::vector<Moved>& all) {
    const Type token = Type::tensor(DType::kU8, Dims{1});
    const Node* backward = order_[static_cast<size_t>(end_ / kApart) + 1];
    for (size_t k = 0; k <= all.size(); ++k) {
      const Node* before = k < all.size() ? all[k].behind : backward;
      if (k > 0) {
        Moved& last = all[k - 1];
        last.token = add("ToHostEnd", last, {last.value, last.token}, token, before);
      }
      if (k == all.size()) break;
      all[k].place = static_cast<int64_t>(k);
      all[k].token = add("ToHost", all[k], {all[k].value}, token, before);
    }
  }

  /// `all` in the order in which they come back.
  void bring_back(const std::vector<Moved>& all) {
    const Node* before = order_[static_cast<size_t>(end_ / kApart) + 1];  // at once, for the first
    for (const Moved& moved : all) {
      const Type& type = moved.value->type;
      Value* coming = add("FromHost", moved, {moved.token}, type, before);
      Value* back = add("FromHostEnd", moved, {coming}, type, moved.reader);
      read_back(moved.value, back);
      before = moved.reader;
    }
  }

  Graph& graph_;
  std::vector<Node*> order_;
  std::unordered_map<const Node*, int64_t> at_;
  int64_t end_ = 0;  ///< where the forward pass ends
};

}  // namespace

Offloaded offload_activations(Model& model, const std::string& loss, int64_t least) {
  Offloaded done{.bytes_before = bytes_at_once(*model.graph)};
  Offload offload(model, loss);
  offload.repeat_views();
  offload.move_values(least, done);
  done.bytes_after = bytes_at_once(*model.graph);
  return done;
}

}  // namespace mlopt::train
