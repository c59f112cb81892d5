// Any operator over constants only -> its result, computed by the judge backend, unless that would make the file grow.
// What is too large to be kept is computed all the same: less may be left further on, as of a table that is expanded,
// filled and then indexed.
#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "core/base/error.h"
#include "core/exec/backend.h"
#include "core/ir/constant.h"
#include "core/ir/macs.h"
#include "core/rewrite/rule_walk.h"
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

bool gives_floats(const Node& node) {
  return std::any_of(node.outputs().begin(), node.outputs().end(), [](const Value* v) {
    return v && (v->type.dtype == DType::kUndefined || is_float(v->type.dtype));
  });
}

bool is_arithmetic(const NodeView& view) { return !listed(kNever, view.node().op); }

bool gives_integers(const NodeView& view) { return is_arithmetic(view) && !gives_floats(view.node()); }

bool same_steps(const NodeView& a, const NodeView& b) {
  for (const int i : {1, 2})
    if (!same_constant(a.node().input(i), b.node().input(i))) return false;
  const Tensor* scale = a.constant(1);
  return (scale && scale->size() == 1) ||
         (a.get_int("axis", 1) == b.get_int("axis", 1) && a.get_int("block_size", 0) == b.get_int("block_size", 0));
}

/// Codes of 4 or 8 bits that DequantizeLinear alone reads, in the same steps: runtimes find it at its operator whether
/// they are computed or stored.
bool gives_codes(const NodeView& view) {
  const Value* codes = view.node().is("QuantizeLinear") ? view.node().output(0) : nullptr;
  const int width = codes ? bits(codes->type.dtype) : 0;
  return (width == 4 || width == 8) && std::all_of(codes->uses.begin(), codes->uses.end(), [&](const Use& use) {
           return use.node->is("DequantizeLinear") && use.index == 0 && same_steps(view, {*use.node, view.opset()});
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

/// About what the node takes in the file, less what a constant in the place of its result takes besides its elements.
int64_t text_bytes(const Node& node) {
  constexpr int64_t kTags = 2, kLeast = 128;
  int64_t bytes = std::ssize(node.name) + std::ssize(node.op) + std::ssize(node.domain);
  for (const Value* v : node.inputs()) bytes += kTags + (v ? std::ssize(v->name) : 0);
  return std::max(bytes, kLeast);
}

bool used(const Node& node) { return !node.outputs().empty() && !has_no_effect(node); }

class Folder {
 public:
  Folder(Model& model, const PassContext& context, PassTally& tally, bool (*wanted)(const NodeView&))
      : model_(model), context_(context), tally_(tally), wanted_(wanted), bytes_(constant_bytes(model)) {
    limit_ = context.constant_limit.value_or(bytes_ + context.fold_bytes);
  }

  void run() {
    walk(*model_.graph);
    for (const auto& [graph, node] : too_large_) decline(*node, kTooLarge);
  }

 private:
  /// A result that is not kept, and the bytes that go away with what computes it.
  struct Tried {
    Tensor result;
    int64_t freed;
  };

  void walk(Graph& graph) {
    for (Node* node : graph.nodes()) {
      for (Graph* body : node->bodies()) walk(*body);
      if (!used(*node) || !foldable(*node)) continue;
      if (const auto no = fold(graph, *node)) decline(*node, no->reason);
    }
  }

  void decline(const Node& node, const std::string& reason) {
    ++tally_.declined[reason];
    tally_.example.emplace(reason, node.label());
  }

  const Tensor* known(const Value* v) const {
    const auto it = tried_.find(v);
    return it == tried_.end() ? v->known_constant() : &it->second.result;
  }

  /// Does the node depend on constants only, and on nothing else?
  bool foldable(const Node& node) const {
    return std::all_of(node.inputs().begin(), node.inputs().end(), [&](const Value* v) { return !v || known(v); }) &&
           node.bodies().empty() && !is_random(node) && wanted_({node, model_.opset(node.domain)}) && !is_storage(node);
  }

  /// Bytes that go away when the node is folded: of itself, and of constants that nothing else reads.
  int64_t freed_bytes(const Node& node) const {
    int64_t bytes = text_bytes(node);
    for (const Value* v : node.inputs()) {
      if (!v || v->uses.size() != 1) continue;
      const auto it = tried_.find(v);
      bytes += it == tried_.end() ? static_cast<int64_t>(v->constant->bytes()) : it->second.freed;
    }
    return bytes;
  }

  bool too_large(const Node& node, int64_t bytes) const {
    const int64_t growth = bytes - freed_bytes(node);
    return growth > 0 && bytes_ + growth > limit_;
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
    if (too_large(node, bytes) && bytes > kMostTried - tried_bytes_) return Decline{kTooLarge};
    return std::nullopt;
  }

  std::vector<Datum> evaluate(const Node& node) const {
    Model one;
    one.ir_version = model_.ir_version;
    one.opsets = model_.opsets;
    std::vector<Value*> inputs, outputs;
    for (const Value* v : node.inputs()) inputs.push_back(v ? one.graph->add_constant("c", *known(v)) : nullptr);
    for (const Value* v : node.outputs())
      outputs.push_back(v ? one.graph->add_value(one.graph->fresh_name("y"), v->type) : nullptr);
    one.graph->add_node(node.domain, node.op, inputs, outputs, node.attrs)->name = node.name;
    for (Value* y : outputs)
      if (y) one.graph->add_output(y);
    return context_.judge->compile(one, {})->run({});
  }

  std::optional<Decline> fold(Graph& graph, Node& node) {
    std::vector<Datum> results;
    try {
      if (auto no = objection(node)) return no;
      results = evaluate(node);
    } catch (const Error& e) {
      if (e.code == Code::kInternal) throw;
      return Decline{"it cannot be computed here: " + e.message};
    }
    int64_t bytes = 0;
    for (const Datum& d : results) {
      if (!d.is_tensor()) return Decline{"its result is not a tensor"};
      bytes += static_cast<int64_t>(d.tensor().bytes());
    }
    const bool kept = !too_large(node, bytes);
    if (!kept && bytes > kMostTried - tried_bytes_) return Decline{kTooLarge};
    kept ? keep(graph, node, results, bytes) : set_aside(graph, node, results, bytes);
    return std::nullopt;
  }

  void keep(Graph& graph, Node& node, const std::vector<Datum>& results, int64_t bytes) {
    bytes_ += bytes - freed_bytes(node);
    size_t next = 0;
    for (Value* y : node.outputs())
      if (y) replace_by_constant(graph, y, results[next++].tensor());
    graph.erase(&node);
    ++tally_.applied;
    forget_unused();
  }

  /// Results that nothing needs any more make room for others, and what they were made of goes with the last one.
  void forget_unused() {
    for (size_t i = too_large_.size(); i-- > 0;) {
      const auto [graph, node] = too_large_[i];
      if (used(*node)) continue;
      for (const Value* y : node->outputs()) {
        const auto it = y ? tried_.find(y) : tried_.end();
        if (it == tried_.end()) continue;
        tried_bytes_ -= static_cast<int64_t>(it->second.result.bytes());
        tried_.erase(it);
      }
      graph->erase(node);
      too_large_.erase(too_large_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  void set_aside(Graph& graph, Node& node, const std::vector<Datum>& results, int64_t bytes) {
    tried_bytes_ += bytes;
    size_t next = 0;
    for (const Value* y : node.outputs())
      if (y) tried_.emplace(y, Tried{results[next++].tensor(), freed_bytes(node)});
    too_large_.emplace_back(&graph, &node);
  }

  static constexpr int64_t kMostMacs = 10'000'000'000;  // a few seconds
  static constexpr int64_t kMostTried = 64 << 20;       // at once; some milliseconds, in each round of the passes
  static constexpr const char* kTooLarge = "its result is larger than the folding limit";

  Model& model_;
  const PassContext& context_;
  PassTally& tally_;
  bool (*wanted_)(const NodeView&);
  int64_t bytes_, limit_ = 0, tried_bytes_ = 0;
  std::unordered_map<const Value*, Tried> tried_;
  std::vector<std::pair<Graph*, Node*>> too_large_;
};

void run(Model& model, const PassContext& context, PassTally& tally) {
  if (context.judge) Folder(model, context, tally, is_arithmetic).run();
}

void run_on_integers(Model& model, const PassContext& context, PassTally& tally) {
  if (context.judge) Folder(model, context, tally, gives_integers).run();
}

void run_on_quantization(Model& model, const PassContext& context, PassTally& tally) {
  if (context.judge) Folder(model, context, tally, gives_codes).run();
}

}  // namespace

const Pass fold_constants = {"fold_constants", "compute what depends on constants only", nullptr, run};
const Pass fold_integers = {"fold_integers", "compute integers and flags that depend on constants only", nullptr,
                            run_on_integers};
const Pass fold_quantization = {"fold_quantization", "store constants as the codes that DequantizeLinear reads",
                                nullptr, run_on_quantization};

}  // namespace mlopt::graphopt
