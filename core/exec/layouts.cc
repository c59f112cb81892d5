#include "core/exec/layouts.h"

#include <unordered_map>

#include "core/exec/inferred.h"

namespace mlopt {
namespace {

/// Values that must share a layout, and how many bytes channels-last would save them.
class Classes {
 public:
  void vote(const Value* v, int sign) {
    if (const auto it = index_.find(v); it != index_.end()) saved_[find(it->second)] += sign * weight_[it->second];
  }
  void tie(const Value* a, const Value* b) {
    const auto first = index_.find(a), second = index_.find(b);
    if (first == index_.end() || second == index_.end()) return;
    const size_t from = find(first->second), to = find(second->second);
    if (from == to) return;
    parent_[from] = to;
    saved_[to] += saved_[from];
  }
  void add(const Value* v, double bytes) {
    index_[v] = parent_.size();
    parent_.push_back(parent_.size());
    weight_.push_back(bytes);
    saved_.push_back(0);
  }
  std::unordered_set<const Value*> gaining() {
    std::unordered_set<const Value*> found;
    for (const auto& [value, k] : index_)
      if (saved_[find(k)] > 0) found.insert(value);
    return found;
  }

 private:
  size_t find(size_t k) {
    while (parent_[k] != k) k = parent_[k] = parent_[parent_[k]];
    return k;
  }

  std::unordered_map<const Value*, size_t> index_;
  std::vector<size_t> parent_;
  std::vector<double> weight_, saved_;
};

/// A tensor whose two layouts differ, of elements that backends copy between them.
bool has_layout(const Value& v) {
  const auto desc = inferred(v);
  if (v.constant || !desc || desc->dims.size() > 5) return false;
  const int size = bits(desc->dtype);
  return !desc->is_any_layout() && (size == 8 || size == 16 || size == 32) && desc->size() > 0;
}

void tie_operands(const Node& node, Classes& classes) {
  const Value* out = node.output(0);
  if (!out || !out->type.dims) return;
  for (const auto* values : {&node.inputs(), &node.outputs()})
    for (const Value* v : *values)
      if (v && v->type.dims && v->type.dims->size() == out->type.dims->size()) classes.tie(v, out);
}

/// Fewer are not worth copying between layouts: fast kernels take them row-major.
bool has_many_channels(const Value* v) {
  constexpr int64_t kMany = 4;
  const auto desc = v ? inferred(*v) : std::nullopt;
  return desc && desc->dims.size() > 1 && desc->dims[1] >= kMany;
}

void vote_all(const Node& node, Classes& classes, int sign) {
  for (const Value* v : node.inputs()) classes.vote(v, sign);
  for (const Value* v : node.outputs()) classes.vote(v, sign);
}

}  // namespace

std::unordered_set<const Value*> channels_last_values(const Graph& graph,
                                                      const std::function<LayoutRule(const Node&)>& rule_of) {
  Classes classes;
  for (const Value* v : graph.values())
    if (has_layout(*v)) classes.add(v, static_cast<double>(inferred(*v)->bytes()));
  for (const Node* node : graph.nodes()) {
    const LayoutRule rule = rule_of(*node);
    if (rule == LayoutRule::kFollows) tie_operands(*node, classes);
    if (rule == LayoutRule::kRowMajor) vote_all(*node, classes, -1);
    if (rule != LayoutRule::kChannelsLast) continue;
    if (has_many_channels(node->input(0))) classes.vote(node->input(0), 1);
    classes.vote(node->output(0), 1);
  }
  for (const Value* v : graph.inputs()) classes.vote(v, -1);
  for (const Value* v : graph.outputs()) classes.vote(v, -1);
  return classes.gaining();
}

}  // namespace mlopt
