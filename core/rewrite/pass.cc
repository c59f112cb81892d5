#include "core/rewrite/pass.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/ir/verify.h"
#include "core/rewrite/rule_walk.h"

namespace mlopt {
namespace {

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

}  // namespace

bool chosen(const Node& node, const std::vector<std::string>& only, const std::vector<std::string>& skip) {
  return (only.empty() || glob_any(only, node.called())) && !glob_any(skip, node.called());
}

bool PassContext::allows(const Node& node) const {
  return (!among || among->contains(node.called())) && chosen(node, only, skip);
}

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
  std::unordered_map<std::string, int> last;  // number that was put behind a name
  for (Node* node : graph.nodes()) {
    for (Graph* body : node->bodies()) part_names(*body);
    if (node->name.empty() || taken.insert(node->name).second) continue;
    const std::string name = node->name;
    int& number = last[name];
    do node->name = name + "_" + std::to_string(++number);
    while (!taken.insert(node->name).second);
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
      if (walk_rules(model, rules, context, tally) == 0) break;
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
                                            const PassContext& context) {
  return run_passes(passes, [&](const Pass& pass) { return run_pass(model, pass, context); });
}

std::map<std::string, PassTally> run_passes(std::span<const Pass* const> passes,
                                            const std::function<PassTally(const Pass&)>& step) {
  constexpr int kRounds = 10;
  std::map<std::string, PassTally> tallies;
  for (int round = 0; round < kRounds; ++round) {
    int64_t changes = 0;
    for (const Pass* pass : passes) {
      PassTally now = step(*pass);
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
