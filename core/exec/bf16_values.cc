#include "core/exec/bf16_values.h"

#include <algorithm>
#include <unordered_map>

#include "core/exec/inferred.h"

namespace mlopt {
namespace {

bool has_bit(uint32_t bits, size_t i) { return bits >> std::min<size_t>(i, 31) & 1; }

class Choice {
 public:
  Choice(const Graph& graph, const std::function<Bf16Rule(const Node&)>& rule_of) : nodes_(graph.nodes()) {
    for (const Node* node : nodes_) rules_[node] = rule_of(*node);
    for (const Value* v : graph.values()) {
      if (!is_float(*v)) continue;
      if (is_multiplied_often(*v)) multiplied_.insert(v);
      if (may_hold(*v)) chosen_.insert(v);
    }
  }

  /// Takes away what has no place until nothing changes.
  Bf16Values made() {
    for (size_t before = chosen_.size() + 1; chosen_.size() < before;) {
      before = chosen_.size();
      for (const Node* node : nodes_)
        if (!passes_whole(*node)) drop_passed(*node);
      std::erase_if(chosen_, [&](const Value* v) { return !is_wanted(*v); });
    }
    std::erase_if(multiplied_, [&](const Value* v) { return chosen_.contains(v); });
    return {std::move(chosen_), std::move(multiplied_)};
  }

 private:
  const Bf16Rule& rule(const Node* node) const { return rules_.at(node); }
  bool is_mover(const Node* node) const { return rule(node).passes != 0 && !rule(node).writes; }

  static bool is_float(const Value& v) {
    const auto desc = inferred(v);
    return desc && desc->dtype == DType::kF32 && !v.constant;
  }

  bool is_multiplied_often(const Value& v) const {
    return 1 < std::count_if(v.uses.begin(), v.uses.end(), [&](const Use& use) {
             const auto at = rules_.find(use.node);
             return at != rules_.end() && use.index >= 0 && multiplies(at->second, static_cast<size_t>(use.index));
           });
  }

  /// Somebody can make it in bfloat16, and everybody can read it so. What a body captures has a use without a rule.
  bool may_hold(const Value& v) const {
    if (!v.producer || v.is_output()) return false;
    const auto made = rules_.find(v.producer);
    if (made == rules_.end() || !(made->second.writes ? v.producer->output(0) == &v : made->second.passes != 0))
      return false;
    return std::all_of(v.uses.begin(), v.uses.end(), [&](const Use& use) {
      const auto at = rules_.find(use.node);
      const auto i = static_cast<size_t>(use.index);
      return at != rules_.end() && use.index >= 0 && (multiplies(at->second, i) || passes(at->second, i));
    });
  }

  /// What a mover is given and makes is in bfloat16 altogether or not at all.
  bool passes_whole(const Node& node) const {
    if (!is_mover(&node)) return true;
    for (size_t i = 0; i < node.inputs().size(); ++i)
      if (node.inputs()[i] && passes(rule(&node), i) && !chosen_.contains(node.inputs()[i])) return false;
    return std::all_of(node.outputs().begin(), node.outputs().end(),
                       [&](const Value* v) { return !v || chosen_.contains(v); });
  }
  void drop_passed(const Node& node) {
    for (size_t i = 0; i < node.inputs().size(); ++i)
      if (passes(rule(&node), i)) chosen_.erase(node.inputs()[i]);
    for (const Value* v : node.outputs()) chosen_.erase(v);
  }

  bool is_wanted(const Value& v) const {
    return std::any_of(v.uses.begin(), v.uses.end(), [&](const Use& use) {
      return multiplies(rule(use.node), static_cast<size_t>(use.index)) || chosen_.contains(use.node->output(0));
    });
  }

  std::vector<Node*> nodes_;
  std::unordered_map<const Node*, Bf16Rule> rules_;
  std::unordered_set<const Value*> chosen_, multiplied_;
};

}  // namespace

bool multiplies(const Bf16Rule& rule, size_t i) { return has_bit(rule.multiplies, i); }
bool passes(const Bf16Rule& rule, size_t i) { return has_bit(rule.passes, i); }

Bf16Values bf16_values(const Graph& graph, const std::function<Bf16Rule(const Node&)>& rule_of) {
  return Choice(graph, rule_of).made();
}

}  // namespace mlopt
