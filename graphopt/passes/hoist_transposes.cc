// Transposes of the axes before the last one, around operators that work row by row -> the same operators on rows in
// the other order, and Transposes only where these come from and where they go. Models of [sequence, batch, width] have
// them at each attention, which wants samples first.
#include <algorithm>
#include <optional>
#include <unordered_set>

#include "core/rewrite/axis_map.h"
#include "graphopt/passes.h"
#include "graphopt/passes/reduction.h"
#include "graphopt/passes/row_by_row.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

using Perm = std::vector<int64_t>;

/// What a Transpose does, where it leaves the last axis and moves others.
std::optional<Perm> perm_of(const Node& node, const Model& model) {
  auto perm = node.output(0) ? order_of_rows({node, model.opset()}) : std::nullopt;
  return perm && !std::is_sorted(perm->begin(), perm->end()) ? std::move(perm) : std::nullopt;
}

Perm inverse(const Perm& perm) {
  Perm back(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return back;
}

/// Operators that work row by row, and the values between them, all to be turned by one permutation.
class Region {
 public:
  Region(Model& model, Value* start, Perm perm, const PassContext& context)
      : model_(model), graph_(*start->graph), perm_(std::move(perm)), back_(inverse(perm_)), context_(context) {
    grow(start);
  }

  bool contains(const Value* v) const { return known_.contains(v); }

  /// By how much less is copied when it is turned; 0 where the names of outputs would not stay.
  int64_t gain() const {
    int64_t gain = 0;
    for (const Value* v : values_) {
      int64_t outputs = v->is_output() || !is_made(v), turns_of_v = 0;
      for (const Use& use : v->uses)
        if (turns(use)) ++turns_of_v, outputs += use.node->output(0)->is_output();
      if (outputs > 1) return 0;
      if (is_made(v))
        turns_of_v -= is_read_outside(v);
      else if (const Value* turned = turned_already(v))
        turns_of_v += !is_read_outside(v) && !turned->known_constant();
      else
        turns_of_v -= !v->known_constant();
      gain += turns_of_v * cost_of_turning(v->type);
    }
    for (const Beside& b : beside_) gain -= !b.node->input(b.index)->known_constant();
    return gain;
  }

  void turn() {
    for (const Beside& b : beside_) turn_beside(b);
    for (Value* v : values_) is_made(v) ? turn_made(v) : turn_given(v);
  }

 private:
  /// An input of a node that has fewer axes than the rows, and the places of those that it gets, of which there are
  /// some.
  struct Beside {
    Node* node;
    int index;
    std::vector<int64_t> new_axes;
  };

  void grow(Value* start) {
    const Builder builder(model_, graph_, nullptr, context_.target);
    std::vector<Value*> waiting{start};
    const auto add = [&](Node* node, const Value* v) {
      if (!node || node->graph() != &graph_ || nodes_.contains(node) || !context_.allows(*node)) return;
      const auto together = turning_together(*node, perm_.size(), builder);
      if (!together || std::find(together->rows.begin(), together->rows.end(), v) == together->rows.end()) return;
      const auto is_here = [&](const Value* other) { return other->graph == &graph_; };
      if (!std::all_of(together->rows.begin(), together->rows.end(), is_here)) return;
      std::vector<Beside> beside;
      for (const int i : together->beside) {
        auto axes = new_axes(*node->input(i));
        if (!axes) return;
        if (!axes->empty()) beside.push_back({node, i, *std::move(axes)});
      }
      nodes_.insert(node);
      beside_.insert(beside_.end(), beside.begin(), beside.end());
      waiting.insert(waiting.end(), together->rows.begin(), together->rows.end());
    };
    while (!waiting.empty()) {
      Value* v = waiting.back();
      waiting.pop_back();
      if (!known_.insert(v).second) continue;
      values_.push_back(v);
      add(v->producer, v);
      for (const Use& use : v->uses) add(use.node, v);
    }
  }

  /// A Transpose of axes of length 1 alone copies what is smaller than the rows that it is read with.
  int64_t cost_of_turning(const Type& type) const {
    constexpr int64_t kOfOnes = 1, kOfRows = 4;
    return moves_only_ones(perm_, *type.dims) ? kOfOnes : kOfRows;
  }

  /// Those of length 1 with which an operand of fewer axes is read by turned rows; nothing where its own would have to
  /// change places.
  std::optional<std::vector<int64_t>> new_axes(const Value& v) const {
    const std::vector<int64_t> places(back_.end() - static_cast<std::ptrdiff_t>(v.type.dims->size()), back_.end());
    if (!std::is_sorted(places.begin(), places.end())) return std::nullopt;
    std::vector<int64_t> added;
    for (int64_t at = places.front(); at < places.back(); ++at)
      if (!std::binary_search(places.begin(), places.end(), at)) added.push_back(at - places.front());
    return added;
  }

  bool is_made(const Value* v) const { return v->producer && nodes_.contains(v->producer); }
  /// Does it read a value through the Transpose that then goes?
  bool turns(const Use& use) const { return use.node->graph() == &graph_ && perm_of(*use.node, model_) == perm_; }
  bool is_read_outside(const Value* v) const {
    return v->is_output() || std::any_of(v->uses.begin(), v->uses.end(),
                                         [&](const Use& use) { return !nodes_.contains(use.node) && !turns(use); });
  }
  /// The value that v is when it is turned, where a Transpose gives v.
  Value* turned_already(const Value* v) const {
    return v->producer && perm_of(*v->producer, model_) == back_ ? v->producer->input(0) : nullptr;
  }

  Type turned(const Type& type) const {
    SymDims dims;
    for (const int64_t axis : perm_) dims.push_back((*type.dims)[static_cast<size_t>(axis)]);
    return Type::tensor(type.dtype, dims);
  }

  Value* transposed(Value* v, const Perm& perm, const Node* before, Type type) {
    Value* y = graph_.add_op("Transpose", {v}, {{"perm", perm, {}}}, before, v->name + "_turned")->output(0);
    y->type = std::move(type);
    return y;
  }

  /// What wants `uses` of a value turned reads `to`, which is that.
  void give(const std::vector<Use>& uses, Value* to) {
    for (const Use& use : uses) {
      if (nodes_.contains(use.node)) {
        graph_.set_input(use.node, use.index, to);
      } else if (turns(use)) {
        graph_.replace_uses(use.node->output(0), to);
        graph_.erase(use.node);
      }
    }
  }

  /// The first node that reads v and is to read it turned.
  const Node* first_reader(const Value* v) const {
    const std::vector<Node*> nodes = graph_.nodes();
    return *std::find_if(nodes.begin(), nodes.end(), [&](const Node* node) {
      return std::any_of(v->uses.begin(), v->uses.end(),
                         [&](const Use& use) { return use.node == node && (nodes_.contains(node) || turns(use)); });
    });
  }

  void turn_beside(const Beside& b) {
    Builder builder(model_, graph_, b.node, context_.target);
    Value* v = b.node->input(b.index);
    SymDims dims = *v->type.dims;
    for (const int64_t axis : b.new_axes) dims.insert(dims.begin() + axis, Dim(1));
    graph_.set_input(b.node, b.index,
                     make_squeeze(builder, "Unsqueeze", v, b.new_axes, Type::tensor(v->type.dtype, dims)));
  }

  void turn_given(Value* v) {
    const std::vector<Use> uses = v->uses;
    Value* to = turned_already(v);
    if (!to) to = transposed(v, perm_, first_reader(v), turned(v->type));
    give(uses, to);
    if (v->uses.empty() && !v->is_output() && turned_already(v)) graph_.erase(v->producer);
  }

  void turn_made(Value* v) {
    const std::vector<Use> uses = v->uses;
    if (is_read_outside(v)) {
      Value* back = transposed(v, back_, graph_.next(v->producer), v->type);
      graph_.replace_uses(v, back);
      graph_.set_input(back->producer, 0, v);
    }
    v->type = turned(v->type);
    v->declared = false;  // what the file states of it is no longer so
    give(uses, v);
  }

  Model& model_;
  Graph& graph_;
  Perm perm_, back_;
  const PassContext& context_;
  std::unordered_set<const Node*> nodes_;
  std::vector<Value*> values_;  // in the order in which they were found
  std::vector<Beside> beside_;
  std::unordered_set<const Value*> known_;
};

constexpr const char* kNone = "no Transpose would go if all around it were turned";

bool turn_first(Graph& graph, Model& model, const PassContext& context, PassTally& tally) {
  std::vector<std::pair<Perm, Region>> tried;
  PassTally declined;
  for (Node* node : graph.nodes()) {
    const auto perm = perm_of(*node, model);
    if (!perm || !context.allows(*node)) continue;
    for (auto& [v, by] : {std::pair(node->input(0), *perm), std::pair(node->output(0), inverse(*perm))}) {
      if (v->graph != &graph || v->known_constant()) continue;  // constants are folded in either order
      const bool known = std::any_of(tried.begin(), tried.end(), [&, value = v, &p = by](const auto& t) {
        return t.first == p && t.second.contains(value);
      });
      if (known) continue;
      Region region(model, v, by, context);
      if (region.gain() > 0) {
        region.turn();
        return true;
      }
      ++declined.declined[kNone];
      declined.example.emplace(kNone, node->label());
      tried.emplace_back(by, std::move(region));
    }
  }
  for (const auto& [reason, times] : declined.declined) tally.declined[reason] += times;
  tally.example.merge(declined.example);
  return false;
}

void run(Model& model, const PassContext& context, PassTally& tally) {
  rewrite_one_by_one(
      *model.graph, [&](Graph& graph) { return turn_first(graph, model, context, tally); }, tally);
}

}  // namespace

const Pass hoist_transposes = {"hoist_transposes",
                               "move Transposes around what works row by row to where the rows come from and go to",
                               nullptr, run};

}  // namespace mlopt::graphopt
