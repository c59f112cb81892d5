// Any operator over constants only -> its result, computed by the judge backend, unless that would make the file grow.
#include <algorithm>
#include <string_view>

#include "core/base/error.h"
#include "core/exec/backend.h"
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

/// Not functions of their inputs, or kept on purpose: quantization is what a user asked for, not redundancy.
constexpr std::string_view kNever[] = {
    "RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial",          "Bernoulli",
    "Dropout",      "Constant",      "QuantizeLinear",   "DequantizeLinear",  "DynamicQuantizeLinear"};
/// The result is larger than the inputs by a factor that the inputs choose: its size must be known beforehand.
constexpr std::string_view kGrowing[] = {"ConstantOfShape", "Expand", "Tile",   "Range",   "OneHot",
                                         "EyeLike",         "Pad",    "Resize", "Upsample"};

bool listed(std::span<const std::string_view> names, std::string_view op) {
  return std::find(names.begin(), names.end(), op) != names.end();
}

/// Bytes of the inputs that only this node reads: they go away when it is folded.
int64_t freed_bytes(const Node& node) {
  int64_t bytes = 0;
  for (const Value* v : node.inputs())
    if (v && v->uses.size() == 1) bytes += static_cast<int64_t>(v->constant->bytes());
  return bytes;
}

/// Why this node is not folded; empty when it may be. `quiet` when that is nothing to report.
std::optional<Decline> objection(const Node& node, const PassContext& context, bool& quiet) {
  quiet = true;
  const auto constant = [](const Value* v) { return !v || v->known_constant(); };
  if (!std::all_of(node.inputs().begin(), node.inputs().end(), constant) || !node.bodies().empty()) return Decline{""};
  if (listed(kNever, node.op)) return Decline{""};
  quiet = false;
  for (const Value* y : node.outputs())
    if (y && y->is_output()) return Decline{"it is an output of the graph"};
  if (!listed(kGrowing, node.op) && !node.inputs().empty()) return std::nullopt;
  const auto dims = node.output(0)->type.static_dims();
  if (!dims) return Decline{"the size of its result is not known beforehand"};
  const auto bytes = static_cast<int64_t>(packed_bytes(node.output(0)->type.dtype, element_count(*dims)));
  if (bytes > freed_bytes(node) + context.fold_bytes) return Decline{"its result is larger than the folding limit"};
  return std::nullopt;
}

std::vector<Datum> evaluate(const Node& node, const Model& model, Backend& judge) {
  Model one;
  one.ir_version = model.ir_version;
  one.opsets = model.opsets;
  std::vector<Value*> inputs, outputs;
  for (const Value* v : node.inputs()) inputs.push_back(v ? one.graph->add_constant("c", *v->constant) : nullptr);
  for (const Value* v : node.outputs()) outputs.push_back(v ? one.graph->add_value(v->name, v->type) : nullptr);
  one.graph->add_node(node.domain, node.op, inputs, outputs, node.attrs)->name = node.name;
  for (Value* y : outputs)
    if (y) one.graph->add_output(y);
  return judge.compile(one, {})->run({});
}

void fold_node(Graph& graph, Node* node, const Model& model, const PassContext& context, PassTally& tally) {
  bool quiet = false;
  const auto decline = [&](const std::string& reason) {
    ++tally.declined[reason];
    tally.example.emplace(reason, node->label());
  };
  if (const auto reason = objection(*node, context, quiet)) {
    if (!quiet) decline(reason->reason);
    return;
  }
  std::vector<Datum> results;
  try {
    results = evaluate(*node, model, *context.judge);
  } catch (const Error& e) {
    if (e.code == Code::kInternal) throw;
    return decline("it cannot be computed here: " + e.message);
  }
  int64_t bytes = 0;
  for (const Datum& d : results) {
    if (!d.is_tensor()) return decline("its result is not a tensor");
    bytes += static_cast<int64_t>(d.tensor().bytes());
  }
  if (bytes > freed_bytes(*node) + context.fold_bytes) return decline("its result is larger than the folding limit");
  size_t next = 0;
  for (Value* y : node->outputs())
    if (y) graph.replace_uses(y, graph.add_constant(y->name, results[next++].tensor()));
  ++tally.applied;
}

void fold(Graph& graph, const Model& model, const PassContext& context, PassTally& tally) {
  for (Node* node : graph.nodes()) {
    for (Graph* body : node->bodies()) fold(*body, model, context, tally);
    const bool used = std::any_of(node->outputs().begin(), node->outputs().end(),
                                  [](const Value* v) { return v && (!v->uses.empty() || v->is_output()); });
    if (used) fold_node(graph, node, model, context, tally);
  }
}

void run(Model& model, const PassContext& context, PassTally& tally) {
  if (context.judge) fold(*model.graph, model, context, tally);
}

}  // namespace

const Pass fold_constants = {"fold_constants", "compute what depends on constants only", nullptr, run};

}  // namespace mlopt::graphopt
