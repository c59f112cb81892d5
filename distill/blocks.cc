#include "distill/blocks.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/rewrite/pass.h"

namespace mlopt::distill {
namespace {

/// The nodes between two values through which all goes that was computed with weights.
struct Segment {
  Value* end = nullptr;
  std::string signature;  ///< operators and sizes of weights
  bool has_weights = false;
};

bool is_weight(const Value* v) {
  return v && v->constant && !v->producer && is_float(v->constant->dtype()) && v->constant->rank() > 1;
}

/// Type and shape without the first axis, which an exporter may have fixed half-way.
std::string sample_type(const Value& v) {
  if (!v.type.dims || v.type.dims->empty()) return to_string(v.type);
  return to_string(Type::tensor(v.type.dtype, SymDims(v.type.dims->begin() + 1, v.type.dims->end())));
}

/// Cuts the schedule at every value that alone is read later, of those floats that weights had a part in. Masks,
/// positions and shapes go beside them.
class Cutter {
 public:
  explicit Cutter(const Graph& graph) : nodes_(graph.nodes()) {
    for (size_t i = 0; i < nodes_.size(); ++i) place_[nodes_[i]] = i;
  }

  std::vector<Segment> run() {
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
    for (const Use& use : v.uses) {
      const Node* node = use.node;
      while (node->graph()->owner) node = node->graph()->owner;
      last = std::max(last, place_.at(node));
    }
    return last;
  }

  std::vector<Node*> nodes_;
  std::unordered_map<const Node*, size_t> place_;
  std::unordered_set<const Value*> weighty_;
  std::set<Value*> live_;
  Segment open_;
  std::vector<Segment> segments_;
};

/// Segments `first` .. `first` + period * times - 1 repeat.
struct Run {
  size_t first = 0, period = 0, times = 0;
};

/// The longest repetition that begins at `first`; of what is left over at its end it leaves out the beginning instead,
/// so that a normalization belongs to the layer before it, as in the embedding of a transformer.
Run run_at(const std::vector<Segment>& all, size_t first) {
  constexpr size_t kLongest = 32;  // segments of a block
  Run best;
  for (size_t period = 1; period <= kLongest && first + 2 * period <= all.size(); ++period) {
    size_t end = first + period;
    while (end < all.size() && all[end].signature == all[end - period].signature) ++end;
    const size_t times = (end - first) / period, start = end - times * period;
    const bool weighs = std::any_of(all.begin() + static_cast<std::ptrdiff_t>(start),
                                    all.begin() + static_cast<std::ptrdiff_t>(start + period),
                                    [](const Segment& s) { return s.has_weights; });
    const bool fits = start > 0 && sample_type(*all[start - 1].end) == sample_type(*all[start + period - 1].end);
    if (times >= 2 && weighs && fits && times * period > best.times * best.period) best = {start, period, times};
  }
  return best;
}

}  // namespace

std::vector<Block> repeated_blocks(const Model& model) {
  const std::vector<Segment> segments = Cutter(*model.graph).run();
  std::vector<Block> blocks;
  for (size_t i = 1; i < segments.size();) {
    const Run run = run_at(segments, i);
    for (size_t k = 0; k < run.times; ++k) {
      const size_t first = run.first + k * run.period;
      Value *begin = segments[first - 1].end, *end = segments[first + run.period - 1].end;
      blocks.push_back({begin, end, end->producer->label()});
    }
    i = run.times > 0 ? run.first + run.times * run.period : i + 1;
  }
  return blocks;
}

std::vector<std::string> keep_blocks(Model& model, const std::vector<int64_t>& kept, const char* option) {
  const std::vector<Block> blocks = repeated_blocks(model);
  if (blocks.empty()) usage_error("the model has no repeated blocks", option, "make the student with other tools");
  const auto count = static_cast<int64_t>(blocks.size());
  for (const int64_t k : kept)
    if (k >= count)
      usage_error(fmt::format("there is no block {}", k), option,
                  fmt::format("the model has {} repeated blocks, from 0 to {}", count, count - 1));
  std::vector<std::string> left_out;
  // From the last to the first, so that what a block reads is still there.
  for (int64_t k = count; k-- > 0;) {
    if (std::find(kept.begin(), kept.end(), k) != kept.end()) continue;
    const Block& block = blocks[static_cast<size_t>(k)];
    left_out.insert(left_out.begin(), block.label);
    model.graph->replace_uses(block.end, block.begin);
  }
  remove_dead(model);
  return left_out;
}

std::vector<int64_t> parse_layers(const std::string& text, const char* option) {
  const std::string key = "layers=";
  if (!starts_with(text, key))
    usage_error(fmt::format("'{}' is no student", text), option, "layers=0/2/4 or shrink:width=0.5");
  std::vector<int64_t> layers;
  for (const std::string& piece : split(text.substr(key.size()), '/')) {
    const auto number = parse_int(piece);
    if (!number || *number < 0) usage_error(fmt::format("'{}' is no number of a block", piece), option, "layers=0/2/4");
    layers.push_back(*number);
  }
  return layers;
}

}  // namespace mlopt::distill
