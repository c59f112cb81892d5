#include "core/rewrite/segments.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "core/ir/reads.h"

namespace mlopt {
namespace {

bool is_weight(const Value* v) {
  return v && v->constant && !v->producer && is_float(v->constant->dtype()) && v->constant->rank() > 1;
}

/// Cuts the schedule at every value that alone is read later, of those floats that weights had a part in. Masks,
/// positions and shapes go beside them.
class Cutter {
 public:
  explicit Cutter(const Graph& graph) : nodes_(graph.nodes()) {
    for (size_t i = 0; i < nodes_.size(); ++i) place_[nodes_[i]] = i;
  }

  std::vector<GraphSegment> run() {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const bool weighty = takes_part(*nodes_[i]);
      if (weighty) note(*nodes_[i]);
      for (auto v = live_.begin(); v != live_.end();)
        v = last_use(**v) <= i && !(*v)->is_output() ? live_.erase(v) : ++v;
      if (weighty)
        for (Value* out : nodes_[i]->outputs())
          if (out && is_float(out->type.dtype) && (last_use(*out) > i || out->is_output())) live_.insert(out);
      if (weighty && live_.size() == 1 && (*live_.begin())->producer == nodes_[i]) cut(*live_.begin());
    }
    return std::move(segments_);
  }

 private:
  bool takes_part(const Node& node) {
    const bool part = std::any_of(node.inputs().begin(), node.inputs().end(),
                                  [&](const Value* v) { return is_weight(v) || weighty_.contains(v); });
    for (const Value* out : node.outputs())
      if (part && out && is_float(out->type.dtype)) weighty_.insert(out);
    return part;
  }

  void note(const Node& node) {
    open_.signature += node.op;
    for (const Value* v : node.inputs()) {
      if (!is_weight(v)) continue;
      open_.signature += " " + to_string(v->constant->dims());
      open_.has_weights = true;
    }
    open_.signature += ";";
  }

  void cut(Value* end) {
    open_.end = end;
    open_.signature += sample_type(*end);
    segments_.push_back(std::move(open_));
    open_ = {};
  }

  /// The place of the last node of the main graph that reads it, in its bodies too.
  size_t last_use(const Value& v) const {
    size_t last = 0;
    for (const Use& use : v.uses) last = std::max(last, place_.at(outermost(use.node)));
    return last;
  }

  std::vector<Node*> nodes_;
  std::unordered_map<const Node*, size_t> place_;
  std::unordered_set<const Value*> weighty_;
  std::set<Value*> live_;
  GraphSegment open_;
  std::vector<GraphSegment> segments_;
};

}  // namespace

std::string sample_type(const Value& v) {
  if (!v.type.dims || v.type.dims->empty()) return to_string(v.type);
  return to_string(Type::tensor(v.type.dtype, SymDims(v.type.dims->begin() + 1, v.type.dims->end())));
}

std::vector<GraphSegment> segments(const Model& model) { return Cutter(*model.graph).run(); }

}  // namespace mlopt
