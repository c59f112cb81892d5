#include "core/train/dropout.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/base/text.h"
#include "core/ir/bind.h"
#include "core/ir/view.h"
#include "core/train/builder.h"
#include "core/train/random.h"

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

bool is_read(const Value* mask) { return mask && (!mask->uses.empty() || mask->is_output()); }

/// What somebody reads of what a Dropout keeps is what it leaves of ones: all, where there are no keys.
void seed_mask(Graph& graph, Node* node, Value* keys, const std::vector<Attr>& attrs) {
  Value* mask = node->output(1);
  if (!is_read(mask)) return;
  const Dims dims = Builder::dims(node->input(0));
  const auto add = [&](const char* op, std::vector<Value*> inputs, std::vector<Attr> own, DType type) {
    const char* domain = std::string_view(op) == "SeededDropout" ? "mlopt" : "";
    Value* made = graph.add_op(op, std::move(inputs), std::move(own), node, mask->name, 1, domain)->output(0);
    made->type = Type::tensor(type, dims);
    return made;
  };
  Value* shape = graph.add_constant("train/indices", Tensor::ints(dims));
  Value* made = add("ConstantOfShape", {shape}, {{"value", Tensor::of<float>({1}, {1}), {}}}, DType::kF32);
  if (keys) made = add("SeededDropout", {made, keys}, attrs, DType::kF32);
  for (const DType type : {DType::kBool, mask->type.dtype})  // what is kept was scaled
    made = add("Cast", {made}, {{"to", static_cast<int64_t>(type), {}}}, type);
  graph.replace_uses(mask, made);
}

/// In the place of a Dropout, with the name of what it gives.
void seed(Graph& graph, Node* node, Value* keys, int64_t number, int64_t axis, double ratio) {
  const std::string name = node->output(0)->name;
  const std::vector<Attr> attrs = {{"axis", axis, {}}, {"node", number, {}}, {"ratio", static_cast<float>(ratio), {}}};
  seed_mask(graph, node, keys, attrs);
  Node* seeded = graph.add_op("SeededDropout", {node->input(0), keys}, attrs, node, name, 1, "mlopt");
  seeded->name = node->name;
  Value* made = seeded->output(0);
  made->type = node->input(0)->type;
  graph.replace_uses(node->output(0), made);
  graph.erase(node);
  if (made->name != name) graph.rename(made, name);
}

Value* add_keys(Graph& graph, int64_t samples, Dropouts& done) {
  Value* keys = graph.add_input(graph.fresh_name("train/dropout"), Type::tensor(DType::kI64, Dims{samples + 1}));
  done.keys = keys->name;
  return keys;
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
  constexpr int64_t kConstantOfShape = 9;  // the opset that has it
  std::vector<Node*> found;
  for (Node* node : model.graph->nodes())
    if (node->is("Dropout") && node->output(0) && (!is_read(node->output(1)) || model.opset() >= kConstantOfShape))
      found.push_back(node);
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
      seed_mask(graph, node, nullptr, {});
      graph.replace_uses(node->output(0), node->input(0));
      graph.erase(node);
      continue;
    }
    if (!keys) keys = add_keys(graph, samples, done);
    const int64_t axis = axis_of(Builder::dims(node->input(0)), growth.of(node->output(0)->name), samples);
    seed(graph, node, keys, static_cast<int64_t>(i), axis, ratio);
    done.least = done.nodes == 0 ? ratio : std::min(done.least, ratio);
    done.most = std::max(done.most, ratio);
    ++done.nodes;
  }
  return done;
}

void seed_random(Model& model, const std::vector<Dims>& dims, TypeRule types, Dropouts& done) {
  const std::vector<Node*> nodes = dims.empty() || dims[0].empty() ? std::vector<Node*>() : random_nodes(model);
  if (!nodes.empty()) {
    Graph& graph = *model.graph;
    seed_random(model, nodes, done.keys.empty() ? add_keys(graph, dims[0][0], done) : graph.find(done.keys), types);
  }
  done.repeating = repeating(model);
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
