// Slices that take an axis of x apart, all of it and nothing twice -> one Split.
#include <algorithm>
#include <map>

#include "core/ir/slice_span.h"
#include "graphopt/passes.h"
#include "graphopt/passes/slicing.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

struct Part {
  Node* slice;
  SliceSpan span;
};

/// The Slices of one axis each that read x in its own graph, by axis, in order of the axis.
std::map<int64_t, std::vector<Part>> parts_of(const Value& x, const Model& model, const PassContext& context) {
  std::map<int64_t, std::vector<Part>> parts;
  for (const Use& use : x.uses) {
    Node* node = use.node;
    if (!node->is("Slice") || use.index != 0 || node->graph() != x.graph || !context.allows(*node)) continue;
    const auto slicing = node->output(0) ? Slicing::of({*node, model.opset()}) : std::nullopt;
    if (!slicing || slicing->axes.size() != 1 || slicing->steps[0] != 1) continue;
    const auto length = (*x.type.dims)[static_cast<size_t>(slicing->axes[0])].value();
    if (!length) continue;
    const SliceSpan span = slice_span(*length, slicing->starts[0], slicing->ends[0], 1);
    if (span.count > 0) parts[slicing->axes[0]].push_back({node, span});
  }
  for (auto& [axis, list] : parts)
    std::stable_sort(list.begin(), list.end(),
                     [](const Part& a, const Part& b) { return a.span.first < b.span.first; });
  return parts;
}

bool cover(const std::vector<Part>& parts, int64_t length) {
  int64_t next = 0;
  for (const Part& part : parts) {
    if (part.span.first != next) return false;
    next += part.span.count;
  }
  return parts.size() > 1 && next == length;
}

const Node* first_of(const Graph& graph, const std::vector<Part>& parts) {
  for (Node* node : graph.nodes())
    if (std::any_of(parts.begin(), parts.end(), [&](const Part& part) { return part.slice == node; })) return node;
  return nullptr;
}

void replace(Graph& graph, Value* x, int64_t axis, const std::vector<Part>& parts, const Model& model) {
  std::vector<int64_t> sizes;
  for (const Part& part : parts) sizes.push_back(part.span.count);
  Node* split = make_split(Builder(model, graph, first_of(graph, parts)), x, static_cast<size_t>(axis), sizes);
  split->name = parts[0].slice->name;
  for (const Part& part : parts) split->origins.push_back(part.slice->label());
  for (size_t i = 0; i < parts.size(); ++i) {
    Value *from = parts[i].slice->output(0), *to = split->outputs()[i];
    to->type = from->type;
    graph.replace_uses(from, to);
    graph.erase(parts[i].slice);
  }
}

/// The first that can be.
bool replace_one(Graph& graph, const Model& model, const PassContext& context) {
  for (Value* x : graph.values()) {
    if (!x->type.dims || x->uses.size() < 2) continue;
    for (const auto& [axis, parts] : parts_of(*x, model, context)) {
      if (!cover(parts, (*x->type.dims)[static_cast<size_t>(axis)].value().value_or(0))) continue;
      replace(graph, x, axis, parts, model);
      return true;
    }
  }
  return false;
}

void run(Model& model, const PassContext& context, PassTally& tally) {
  if (model.opset() < 2) return;
  rewrite_one_by_one(
      *model.graph, [&](Graph& graph) { return replace_one(graph, model, context); }, tally);
}

}  // namespace

const Pass slices_to_split = {"slices_to_split", "replace Slices that take a value apart by one Split", nullptr, run};

}  // namespace mlopt::graphopt
