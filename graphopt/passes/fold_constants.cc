// Any operator over constants only -> its result, computed by the judge backend, unless that would make the file grow.
#include <algorithm>
#include <string_view>

#include "core/base/error.h"
#include "core/exec/backend.h"
#include "core/ir/constant.h"
#include "core/ir/macs.h"
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

/// Kept on purpose: quantization is what a user asked for, not redundancy.
constexpr std::string_view kNever[] = {"Constant", "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"};
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

bool gives_floats(const Node& node) {
  return std::any_of(node.outputs().begin(), node.outputs().end(), [](const Value* v) {
    return v && (v->type.dtype == DType::kUndefined || is_float(v->type.dtype));
  });
}

/// A weight that is stored in fewer bytes than it is computed with.
bool is_storage(const Node& node) {
  constexpr int64_t kLeast = 64;
  const Value* x = node.is("Cast") ? node.input(0) : nullptr;
  const Tensor* stored = x ? x->known_constant() : nullptr;
  const bool small = stored && (stored->dtype() == DType::kF16 || stored->dtype() == DType::kBF16);
  return small && stored->size() >= kLeast && node.output(0)->type.dtype == DType::kF32;
}

/// Does the node depend on constants only, and on nothing else?
bool foldable(const Node& node) {
  const auto constant = [](const Value* v) { return !v || v->known_constant(); };
  return std::all_of(node.inputs().begin(), node.inputs().end(), constant) && node.bodies().empty() &&
         !is_random(node) && !listed(kNever, node.op) && !is_storage(node);
}

std::vector<Datum> evaluate(const Node& node, const Model& model, Backend& judge) {
  Model one;
  one.ir_version = model.ir_version;
  one.opsets = model.opsets;
  std::vector<Value*> inputs, outputs;
  for (const Value* v : node.inputs()) inputs.push_back(v ? one.graph->add_constant("c", *v->constant) : nullptr);
  for (const Value* v : node.outputs())
    outputs.push_back(v ? one.graph->add_value(one.graph->fresh_name("y"), v->type) : nullptr);
  one.graph->add_node(node.domain, node.op, inputs, outputs, node.attrs)->name = node.name;
  for (Value* y : outputs)
    if (y) one.graph->add_output(y);
  return judge.compile(one, {})->run({});
}

class Folder {
 public:
  Folder(Model& model, const PassContext& context, PassTally& tally, bool floats)
      : model_(model), context_(context), tally_(tally), floats_(floats), bytes_(constant_bytes(model)) {
    limit_ = context.constant_limit.value_or(bytes_ + context.fold_bytes);
  }

  void walk(Graph& graph) {
    for (Node* node : graph.nodes()) {
      for (Graph* body : node->bodies()) walk(*body);
      const bool used = std::any_of(node->outputs().begin(), node->outputs().end(),
                                    [](const Value* v) { return v && (!v->uses.empty() || v->is_output()); });
      if (!used || !foldable(*node) || (!floats_ && gives_floats(*node))) continue;
      if (const auto reason = fold(graph, *node)) {
        ++tally_.declined[reason->reason];
        tally_.example.emplace(reason->reason, node->label());
      }
    }
  }

 private:
  bool too_large(const Node& node, int64_t bytes) const {
    const int64_t growth = bytes - freed_bytes(node);
    return growth > kFree && bytes_ + growth > limit_;
  }

  /// Why not, where that is known before anything is computed.
  std::optional<Decline> objection(const Node& node) const {
    if (!context_.allows(node)) return Decline{"excluded by --only or --skip"};
    for (const Value* y : node.outputs())
      if (y && y->is_output()) return Decline{"it is an output of the graph"};
    if (macs(NodeView(node, model_.opset(node.domain))).value_or(0) > kMostMacs)
      return Decline{"it takes too long to compute here"};
    int64_t bytes = 0;
    for (const Value* y : node.outputs()) {
      const auto dims = y ? y->type.static_dims() : Dims{};
      if (!dims && (listed(kGrowing, node.op) || node.inputs().empty()))
        return Decline{"the size of its result is not known beforehand"};
      if (y && dims) bytes += static_cast<int64_t>(packed_bytes(y->type.dtype, element_count(*dims)));
    }
    if (too_large(node, bytes)) return Decline{kTooLarge};
    return std::nullopt;
  }

  std::optional<Decline> fold(Graph& graph, Node& node) {
    std::vector<Datum> results;
    try {
      if (auto no = objection(node)) return no;
      results = evaluate(node, model_, *context_.judge);
    } catch (const Error& e) {
      if (e.code == Code::kInternal) throw;
      return Decline{"it cannot be computed here: " + e.message};
    }
    int64_t bytes = 0;
    for (const Datum& d : results) {
      if (!d.is_tensor()) return Decline{"its result is not a tensor"};
      bytes += static_cast<int64_t>(d.tensor().bytes());
    }
    if (too_large(node, bytes)) return Decline{kTooLarge};
    bytes_ += bytes - freed_bytes(node);
    size_t next = 0;
    for (Value* y : node.outputs())
      if (y) replace_by_constant(graph, y, results[next++].tensor());
    ++tally_.applied;
    return std::nullopt;
  }

  static constexpr int64_t kMostMacs = 10'000'000'000;  // a few seconds
  static constexpr const char* kTooLarge = "its result is larger than the folding limit";
  static constexpr int64_t kFree = 128;  // about what the node itself takes in the file

  Model& model_;
  const PassContext& context_;
  PassTally& tally_;
  bool floats_;
  int64_t bytes_, limit_ = 0;
};

void run(Model& model, const PassContext& context, PassTally& tally) {
  if (context.judge) Folder(model, context, tally, true).walk(*model.graph);
}

void run_on_integers(Model& model, const PassContext& context, PassTally& tally) {
  if (context.judge) Folder(model, context, tally, false).walk(*model.graph);
}

}  // namespace

const Pass fold_constants = {"fold_constants", "compute what depends on constants only", nullptr, run};
const Pass fold_integers = {"fold_integers", "compute integers and flags that depend on constants only", nullptr,
                            run_on_integers};

}  // namespace mlopt::graphopt
