#include "core/rewrite/rule_walk.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <unordered_set>
#include <utility>

namespace mlopt {
namespace {

/// One walk over every node of a graph with the rules of a pass.
class RuleWalk {
 public:
  RuleWalk(Model& model, std::span<const Rule> rules, const PassContext& context, PassTally& tally)
      : model_(model), rules_(rules), context_(context), tally_(tally) {}

  /// Gives how many rewrites were done.
  int64_t walk(Graph& graph) {
    int64_t done = 0;
    for (Node* node : graph.nodes()) {
      if (erased_.contains(node)) continue;
      for (Graph* body : node->bodies()) done += walk(*body);
      if (node->first_output()) done += visit(graph, node);
    }
    return done;
  }

 private:
  bool visit(Graph& graph, Node* node) {
    for (const Rule& rule : rules_) {
      auto match = rule.pattern.match(node);
      if (!match) continue;
      if (!*match) {
        decline(*node, match->error().reason);
        continue;
      }
      if (!context_.allows(*node)) {
        decline(*node, "excluded by --only or --skip");
        continue;
      }
      Builder builder(model_, graph, node, context_.target);
      const Expected<Replacement> replacement = rule.rewrite(**match, builder);
      const std::string why = replacement ? objection(*node, *replacement, builder.made()) : replacement.error().reason;
      if (!replacement || !why.empty()) {
        builder.undo();
        decline(*node, why);
        continue;
      }
      builder.settle();
      replace(graph, node, builder.made(), *replacement);
      return true;
    }
    return false;
  }

  /// Why the replacement cannot stand.
  std::string objection(const Node& node, const Replacement& values, const std::vector<Node*>& made) const {
    if (!replaces_all(node, values)) return "it has more outputs than the operator";
    const auto of = [this](const Node& n) { return context_.objection({n, model_.opset(n.domain)}); };
    if (!context_.objection || !of(node).empty()) return {};
    for (const Node* n : made)
      if (std::string why = of(*n); !why.empty()) return why;
    return {};
  }

  /// Else the node would stay, to be rewritten for ever. Models are read that give an operator outputs it does not
  /// have.
  static bool replaces_all(const Node& node, const Replacement& values) {
    for (size_t i = 0; i < node.outputs().size(); ++i) {
      const Value* old = node.outputs()[i];
      const bool read = old && (!old->uses.empty() || old->is_output());
      if (read && (i >= values.size() || !values[i])) return false;
    }
    return true;
  }

  void decline(const Node& node, const std::string& reason) {
    if (reason.empty()) return;
    ++tally_.declined[reason];
    tally_.example.emplace(reason, node.label());
  }

  void replace(Graph& graph, Node* node, std::vector<Node*> made, const Replacement& values) {
    for (const Node* n : made) erased_.erase(n);  // it may lie where an erased one lay
    std::vector<std::string> origins = taken_origins(*node);
    for (size_t i = 0; i < node->outputs().size(); ++i) {
      Value* old = node->outputs()[i];
      if (!old || i >= values.size() || !values[i]) continue;
      if (values[i]->type.kind == Type::Kind::kUnknown) values[i]->type = old->type;
      if (!values[i]->symbolic && !values[i]->constant) values[i]->symbolic = old->symbolic;
      if (old->is_output() && (!values[i]->producer || values[i]->is_output() || values[i]->graph != &graph)) {
        // An output must keep its name, and what replaces it cannot take it over: an Identity carries it.
        Value* bridge = graph.add_op("Identity", {values[i]}, {}, node)->output(0);
        graph.replace_uses(old, bridge);
      } else {
        graph.replace_uses(old, values[i]);
      }
    }
    erase_dead(node, origins);
    std::erase_if(made, [this](const Node* n) { return erased_.contains(n); });  // what only the node read
    for (size_t i = 1; i < made.size(); ++i) made[i]->origins = origins;
    if (!made.empty()) made.front()->origins = std::move(origins);
    ++tally_.applied;
  }

  /// Of a node that goes. The lists of long chains are moved from node to node, never copied.
  static std::vector<std::string> taken_origins(Node& node) {
    return node.origins.empty() ? std::vector{node.label()} : std::move(node.origins);
  }

  /// Puts those of `first` that are not among them yet in front of the others. Of a long and a short list, only the
  /// short one is copied.
  static void put_first(std::vector<std::string> first, std::vector<std::string>& origins) {
    if (first.size() < origins.size()) {
      std::unordered_set<std::string> fresh(first.begin(), first.end());
      for (const std::string& o : origins) fresh.erase(o);
      std::erase_if(first, [&](const std::string& o) { return !fresh.contains(o); });
    } else {
      const std::unordered_set<std::string> known(origins.begin(), origins.end());
      std::erase_if(first, [&](const std::string& o) { return known.contains(o); });
    }
    first.insert(first.end(), std::make_move_iterator(origins.begin()), std::make_move_iterator(origins.end()));
    origins = std::move(first);
  }

  /// The node and whatever only it needed, whose origins come before those of the node.
  void erase_dead(Node* node, std::vector<std::string>& origins) {
    std::deque<Node*> waiting = {node};
    std::unordered_set<const Node*> gone;  // of this call alone: a later node may lie where an erased one lay
    while (!waiting.empty()) {
      Node* dead = waiting.front();
      waiting.pop_front();
      if (gone.contains(dead) || !has_no_effect(*dead)) continue;
      for (Value* v : dead->inputs())
        if (v && v->producer && v->graph == dead->graph()) waiting.push_back(v->producer);
      gone.insert(dead);
      erased_.insert(dead);
      if (dead != node && !dead->is("Constant")) put_first(taken_origins(*dead), origins);
      dead->graph()->erase(dead);
    }
  }

  Model& model_;
  std::span<const Rule> rules_;
  const PassContext& context_;
  PassTally& tally_;
  std::unordered_set<const Node*> erased_;
};

}  // namespace

bool has_no_effect(const Node& node) {
  return !node.outputs().empty() && std::all_of(node.outputs().begin(), node.outputs().end(), [](const Value* v) {
    return !v || (v->uses.empty() && !v->is_output());
  });
}

int64_t walk_rules(Model& model, std::span<const Rule> rules, const PassContext& context, PassTally& tally) {
  return RuleWalk(model, rules, context, tally).walk(*model.graph);
}

}  // namespace mlopt
