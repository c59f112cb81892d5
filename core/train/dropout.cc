#include "core/train/dropout.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/base/text.h"
#include "core/ir/bind.h"
#include "core/ir/view.h"
#include "core/train/builder.h"

namespace mlopt::train {
namespace {

constexpr uint64_t kOfSample = 0x64726f70, kOfUpdate = 0x64726f71;

/// The sizes of a value when there is one sample more; nothing where the model takes no other number.
class Growth {
 public:
  Growth(const Model& source, const std::vector<Dims>& dims, TypeRule types) : bound_(clone(source)) {
    std::vector<Dims> larger = dims;
    for (Dims& d : larger)
      if (!d.empty()) ++d[0];
    size_t next = 0;
    for (const Value* v : source.graph->inputs()) {
      if (v->constant) continue;
      const auto& declared = v->type.dims;
      known_ = known_ && next < larger.size() && (!declared || declared->empty() || !declared->at(0).value());
      ++next;
    }
    try {
      if (known_) bind_input_shapes(bound_, larger, types);
    } catch (const Error&) {
      known_ = false;  // there are models that declare a free size and take one alone
    }
  }

  std::optional<Dims> of(const std::string& name) const {
    const Value* value = known_ ? bound_.graph->find(name) : nullptr;
    return value ? value->type.static_dims() : std::nullopt;
  }

 private:
  Model bound_;
  bool known_ = true;
};

/// The axis along which a value has the samples: that which grows with them, -1 where none does. Where that is not
/// known, the first that has equal parts for them.
int64_t axis_of(const Dims& now, const std::optional<Dims>& larger, int64_t samples) {
  const bool known = larger && larger->size() == now.size();
  for (size_t k = 0; k < now.size(); ++k)
    if (now[k] % samples == 0 && (!known || (*larger)[k] == now[k] / samples * (samples + 1)))
      return static_cast<int64_t>(k);
  return -1;
}

double ratio_of(const Model& model, const Node& node, const DropoutChoice& choice) {
  if (choice.ratio) return *choice.ratio;
  const auto ratio = NodeView(node, model.opset()).number("ratio", 1, 0.5);
  if (!ratio || !(*ratio >= 0 && *ratio < 1))
    unsupported_error("the ratio of a dropout is no constant from 0 to below 1", node.label(),
                      "give one for all: --dropout RATIO, or --dropout off");
  return *ratio;
}

/// In the place of a Dropout, with the name of what it gives.
void seed(Graph& graph, Node* node, Value* keys, int64_t number, int64_t axis, double ratio) {
  const std::string name = node->output(0)->name;
  Node* seeded = graph.add_op("SeededDropout", {node->input(0), keys},
                              {{"axis", axis, {}}, {"node", number, {}}, {"ratio", static_cast<float>(ratio), {}}},
                              node, name, 1, "mlopt");
  seeded->name = node->name;
  Value* made = seeded->output(0);
  made->type = node->input(0)->type;
  graph.replace_uses(node->output(0), made);
  graph.erase(node);
  if (made->name != name) graph.rename(made, name);
}

}  // namespace

DropoutChoice parse_dropout(std::string_view text) {
  if (text == "model") return {};
  if (text == "off") return {0};
  const auto ratio = parse_double(text);
  if (!ratio || !(*ratio >= 0 && *ratio < 1))
    usage_error(fmt::format("'{}' is neither model, off nor a share from 0 to below 1", text), "--dropout");
  return {*ratio};
}

std::vector<Node*> dropouts_of(const Model& model) {
  std::vector<Node*> found;
  for (Node* node : model.graph->nodes()) {
    const Value* mask = node->output(1);
    if (node->is("Dropout") && node->output(0) && !(mask && (!mask->uses.empty() || mask->is_output())))
      found.push_back(node);
  }
  return found;
}

Dropouts seed_dropouts(Model& model, const std::vector<Node*>& nodes, const DropoutChoice& choice, const Model& source,
                       const std::vector<Dims>& dims, TypeRule types) {
  Graph& graph = *model.graph;
  Dropouts done;
  if (nodes.empty() && choice.ratio.value_or(0) > 0)
    usage_error("the model has no Dropout", "--dropout", "leave it out");
  if (nodes.empty() || dims.empty() || dims[0].empty()) return done;
  const int64_t samples = dims[0][0];
  const Growth growth(source, dims, types);
  Value* keys = nullptr;
  for (size_t i = 0; i < nodes.size(); ++i) {
    Node* node = nodes[i];
    const double ratio = ratio_of(model, *node, choice);
    if (ratio == 0) {
      graph.replace_uses(node->output(0), node->input(0));
      graph.erase(node);
      continue;
    }
    if (!keys) keys = graph.add_input(graph.fresh_name("train/dropout"), Type::tensor(DType::kI64, Dims{samples + 1}));
    const int64_t axis = axis_of(Builder::dims(node->input(0)), growth.of(node->output(0)->name), samples);
    seed(graph, node, keys, static_cast<int64_t>(i), axis, ratio);
    done.least = done.nodes == 0 ? ratio : std::min(done.least, ratio);
    done.most = std::max(done.most, ratio);
    ++done.nodes;
  }
  if (keys) done.keys = keys->name;
  return done;
}

Tensor dropout_keys(std::span<const int64_t> samples, int64_t epoch, int64_t update, uint64_t seed) {
  std::vector<int64_t> keys;
  for (const int64_t sample : samples)
    keys.push_back(
        static_cast<int64_t>(seed_of({kOfSample, seed, static_cast<uint64_t>(epoch), static_cast<uint64_t>(sample)})));
  keys.push_back(static_cast<int64_t>(seed_of({kOfUpdate, seed, static_cast<uint64_t>(update)})));
  return Tensor::ints(keys);
}

}  // namespace mlopt::train
