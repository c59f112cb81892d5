#include "core/rewrite/pass.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <unordered_set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/ir/verify.h"

namespace mlopt {
namespace {

/// A node without outputs is there for what it does.
bool has_no_effect(const Node& node) {
  return !node.outputs().empty() && std::all_of(node.outputs().begin(), node.outputs().end(), [](const Value* v) {
    return !v || (v->uses.empty() && !v->is_output());
  });
}

int64_t remove_dead_nodes(Graph& graph) {
  int64_t removed = 0;
  std::vector<Node*> nodes = graph.nodes();
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    if (has_no_effect(**it)) {
      graph.erase(*it);
      ++removed;
    } else {
      for (Graph* body : (*it)->bodies()) removed += remove_dead_nodes(*body);
    }
  }
  return removed;
}

void remove_dead_constants(Graph& graph) {
  for (Value* v : graph.initializers())
    if (v->uses.empty() && !v->is_output() && !v->is_input) graph.erase(v);
  for (Node* node : graph.nodes())
    for (Graph* body : node->bodies()) remove_dead_constants(*body);
}

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
      done += visit(graph, node);
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
      const Node* before = graph.previous(node);
      Builder builder(model_, graph, node, context_.target);
      const Expected<Replacement> replacement = rule.rewrite(**match, builder);
      if (!replacement) {
        decline(*node, replacement.error().reason);
        continue;
      }
      if (!replaces_all(*node, *replacement)) {
        decline(*node, "it has more outputs than the operator");
        continue;
      }
      replace(graph, node, before, *replacement);
      return true;
    }
    return false;
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

  /// New nodes stand between `before` (null: the beginning) and the node.
  void replace(Graph& graph, Node* node, const Node* before, const Replacement& values) {
    std::vector<Node*> made;
    for (Node* n = graph.next(before); n != node; n = graph.next(n)) made.push_back(n);
    std::vector<std::string> origins = origins_of(*node);
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
    for (Node* n : made) n->origins = origins;
    ++tally_.applied;
  }

  static std::vector<std::string> origins_of(const Node& node) {
    return node.origins.empty() ? std::vector{node.label()} : node.origins;
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
      if (dead != node && !dead->is("Constant")) {
        std::vector<std::string> all = origins_of(*dead);
        std::erase_if(all,
                      [&](const auto& o) { return std::find(origins.begin(), origins.end(), o) != origins.end(); });
        origins.insert(origins.begin(), all.begin(), all.end());
      }
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

std::string Builder::hint(std::string_view op) const {
  return before_ && before_->output(0) ? before_->output(0)->name + "_" + std::string(op) : std::string(op);
}

Value* Builder::add(Node* made, Type type) {
  Value* y = made->outputs().front();
  // Runtimes refuse a name that two nodes have: the first takes that of the root, which goes.
  if (before_ && !before_->name.empty()) made->name = named_ ? y->name : before_->name;
  named_ = true;
  y->type = std::move(type);
  return y;
}

Value* Builder::op(std::string_view op, std::vector<Value*> inputs, std::vector<Attr> attrs, Type type) {
  return add(graph.add_op(std::string(op), std::move(inputs), std::move(attrs), before_, hint(op)), std::move(type));
}

Value* Builder::contrib(std::string_view op, std::vector<Value*> inputs, std::vector<Attr> attrs, Type type,
                        int outputs) {
  Node* made =
      graph.add_op(std::string(op), std::move(inputs), std::move(attrs), before_, hint(op), outputs, "com.microsoft");
  return add(made, std::move(type));
}

Value* Builder::constant(std::string_view hint, Tensor tensor) {
  return graph.add_constant(std::string(hint), std::move(tensor));
}

Value* Builder::successor(Value* old, Tensor tensor) {
  std::string name = old->name;
  if (old->single_use() && !old->is_input && old->graph == &graph) graph.rename(old, graph.fresh_name(name));
  return constant(name, std::move(tensor));
}

bool chosen(const Node& node, const std::vector<std::string>& only, const std::vector<std::string>& skip) {
  return (only.empty() || glob_any(only, node.called())) && !glob_any(skip, node.called());
}

bool PassContext::allows(const Node& node) const { return chosen(node, only, skip); }

int64_t constant_bytes(const Model& model) {
  int64_t bytes = 0;
  const auto add = [&](const Graph& graph) {
    for (const Value* v : graph.values())
      if (v->constant) bytes += static_cast<int64_t>(v->constant->bytes());
  };
  add(*model.graph);
  for (const Node* node : all_nodes(*model.graph))
    for (const Graph* body : node->bodies()) add(*body);
  return bytes;
}

int64_t usual_fold_bytes(const Model& model) {
  constexpr int64_t kLeast = 4096;  // small tables that small models compute, too
  return std::max(kLeast, std::max(model.file_bytes, constant_bytes(model)) / 100);
}

int64_t remove_dead(Model& model) {
  const int64_t removed = remove_dead_nodes(*model.graph);
  remove_dead_constants(*model.graph);
  return removed;
}

namespace {

/// Runtimes refuse a name that two nodes have. A new node is named after a value, which may have taken another name
/// since.
void part_names(Graph& graph) {
  std::unordered_set<std::string> taken;
  for (Node* node : graph.nodes()) {
    for (Graph* body : node->bodies()) part_names(*body);
    const std::string name = node->name;
    for (int i = 1; !node->name.empty() && !taken.insert(node->name).second; ++i)
      node->name = name + "_" + std::to_string(i);
  }
}

}  // namespace

PassTally run_pass(Model& model, const Pass& pass, const PassContext& context) {
  constexpr int kMostWalks = 100;
  PassTally tally;
  if (pass.rules) {
    const std::vector<Rule> rules = pass.rules();
    for (int walk = 0;; ++walk) {
      if (walk == kMostWalks) internal_error("a pass does not come to rest", std::string(pass.name));
      tally.declined.clear();  // a decline counts once, as it stands at the end
      if (RuleWalk(model, rules, context, tally).walk(*model.graph) == 0) break;
      remove_dead(model);
      infer(model, context.standard_types, context.keep_outputs);
    }
  } else {
    pass.run(model, context, tally);
    if (tally.applied) {
      remove_dead(model);
      infer(model, context.standard_types, context.keep_outputs);
    }
  }
  if (tally.applied) {
    part_names(*model.graph);
    require_valid(model, pass.name);
  }
  return tally;
}

std::map<std::string, PassTally> run_passes(Model& model, std::span<const Pass* const> passes,
                                            const PassContext& context, int rounds) {
  std::map<std::string, PassTally> tallies;
  for (int round = 0; round < rounds; ++round) {
    int64_t changes = 0;
    for (const Pass* pass : passes) {
      PassTally now = run_pass(model, *pass, context);
      PassTally& all = tallies[std::string(pass->name)];
      changes += now.applied;
      all.applied += now.applied;
      all.declined = std::move(now.declined);
      all.example = std::move(now.example);
    }
    if (!changes) break;
  }
  return tallies;
}

}  // namespace mlopt
