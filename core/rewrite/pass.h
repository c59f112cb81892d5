#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/expected.h"
#include "core/ir/infer.h"
#include "core/ir/model.h"
#include "core/ir/view.h"
#include "core/rewrite/pattern.h"

namespace mlopt {

class Backend;

/// What a rewritten graph is for, which decides the operators that rules write: those of the standard at the model's
/// opset, also com.microsoft's that ONNX Runtime runs, or whatever our own kernels know, at any opset.
enum class Target { kOnnx, kOrt, kOpenvino, kTensorrt, kKernels };

/// What a pass did: how often it rewrote, and what it declined, by reason.
struct PassTally {
  int64_t applied = 0;
  std::map<std::string, int64_t> declined;     ///< reason -> times
  std::map<std::string, std::string> example;  ///< reason -> a node it was said of
};

/// Do the globs of --only (none: all) and --skip leave the node in? An unnamed node goes by its first output.
bool chosen(const Node& node, const std::vector<std::string>& only, const std::vector<std::string>& skip);

/// What passes may use.
struct PassContext {
  Backend* judge = nullptr;                    ///< evaluates constants; null: nothing is folded
  TypeRule standard_types = nullptr;           ///< of operators outside our own table
  int64_t fold_bytes = 1 << 20;                ///< that folding may add to all constants together, beyond what it frees
  std::optional<int64_t> constant_limit = {};  ///< the same as a total; unset: what there is, and fold_bytes
  std::vector<std::string> only, skip;         ///< globs of node names; an unnamed node goes by its first output
  const std::set<std::string>* among = nullptr;  ///< names, said likewise, of which one must be the node's; null: all

  Target target = Target::kOnnx;
  /// Why what the graph is for cannot run a node, or nothing: then a rewrite that makes such a node of one that could
  /// be run is declined. Null: all nodes can be run.
  std::string (*objection)(const NodeView&) = nullptr;

  bool keep_outputs = true;  ///< graph outputs have the types that the file declares, see infer()

  bool allows(const Node& node) const;
};

/// Bytes of all constants of the model: initializers and Constant nodes, bodies included.
int64_t constant_bytes(const Model& model);
/// What folding may add where nobody says more: a hundredth of the file or of the constants, 4 KB at least.
int64_t usual_fold_bytes(const Model& model);

/// Adds the nodes of a replacement directly before the root of a match. Rules make nodes and constants by it alone:
/// what they added to the graph otherwise could not be taken back.
class Builder {
 public:
  Builder(const Model& model, Graph& graph, const Node* before, Target target = Target::kOnnx)
      : graph(graph), target(target), model_(model), before_(before) {}

  Graph& graph;
  const Target target;

  /// The same in front of another node of the graph.
  Builder at(const Node* before) const;

  /// The first output of a new node; the first node takes the root's name. `type` is known at once where the rule knows
  /// it.
  Value* op(std::string_view op, std::vector<Value*> inputs, std::vector<Attr> attrs = {}, Type type = {});
  /// The same for an operator of com.microsoft with so many outputs.
  Value* contrib(std::string_view op, std::vector<Value*> inputs, std::vector<Attr> attrs = {}, Type type = {},
                 int outputs = 1);
  /// The same for a node of any domain, named after `hint`, whose outputs have no types yet.
  Node* node(std::string op, std::vector<Value*> inputs, std::vector<Attr> attrs, const std::string& hint, int outputs,
             std::string domain = "");
  /// Where the replacement stands, what reads `old` shall read `made`, beside what reads the root's outputs.
  void replace(Value* old, Value* made);
  Value* constant(std::string_view hint, Tensor tensor);
  /// A constant in the place of `old`, whose name it takes when nothing but the node that is replaced reads that.
  Value* successor(Value* old, Tensor tensor);
  NodeView view(const Node& node) const { return {node, model_.opset(node.domain)}; }
  int64_t opset(std::string_view domain = "") const { return model_.opset(domain); }
  /// May an operator be written that the standard has since opset `since`?
  bool has(int64_t since) const { return target == Target::kKernels || opset() >= since; }
  /// The same for values of this type, where the operator takes bfloat16 only since opset `brain`.
  bool has(int64_t since, DType type, int64_t brain) const { return has(type == DType::kBF16 ? brain : since); }

  /// The nodes that this builder and those of at() made, in order.
  const std::vector<Node*>& made() const { return made_->nodes; }
  /// Does what replace() was asked for.
  void settle();
  /// As if nothing had been made.
  void undo();

 private:
  /// What was made, for builders at all places.
  struct Made {
    std::vector<Node*> nodes;
    std::vector<Value*> constants;
    std::vector<std::pair<Value*, std::string>> renamed;
    std::vector<std::pair<Value*, Value*>> replaced;
  };

  Value* add(Node* made, Type type);
  std::string hint(std::string_view op) const;

  const Model& model_;
  const Node* before_;
  bool named_ = false;  ///< has a node the root's name?
  std::shared_ptr<Made> made_ = std::make_shared<Made>();
};

/// New values for the root's outputs, in order; null keeps an output (which then must be unused).
using Replacement = std::vector<Value*>;

/// A local rewrite: where the pattern matches, `rewrite` gives the replacement or the reason why not; none where it
/// is no near miss. Names, uses, dead code, shapes and verification are the driver's.
struct Rule {
  Pattern pattern;
  Expected<Replacement> (*rewrite)(const Match&, Builder&);
};

/// A named step of a pipeline: rules tried in order at every node, or a function over the whole model.
struct Pass {
  std::string_view name;
  std::string_view doc;  ///< one line
  std::vector<Rule> (*rules)() = nullptr;
  void (*run)(Model&, const PassContext&, PassTally&) = nullptr;  ///< used when `rules` is null
};

/// Runs one pass to its own fixed point, removes what became dead, refreshes shapes when something changed, and
/// verifies the graph. Throws Error{kInternal} naming the pass when it broke the graph or does not come to rest.
PassTally run_pass(Model& model, const Pass& pass, const PassContext& context);

/// Passes in order, again and again until none changes anything, ten times at most. Tallies by pass name.
std::map<std::string, PassTally> run_passes(Model& model, std::span<const Pass* const> passes,
                                            const PassContext& context);
/// The same, one pass being run by `step`.
std::map<std::string, PassTally> run_passes(std::span<const Pass* const> passes,
                                            const std::function<PassTally(const Pass&)>& step);

/// Nodes whose outputs nothing reads, and initializers that nothing reads. Gives how many nodes went.
int64_t remove_dead(Model& model);

}  // namespace mlopt
