#pragma once
#include <functional>

#include "core/exec/kernel.h"

namespace mlopt::cpu {

/// The kernel that runs a node's calls when this one does not: what CompileContext::next gives, asked for once.
class Next {
 public:
  Next(const NodeView& view, const CompileContext& context);
  /// Throws Error{kUnsupported} with `reason` when no other kernel takes the node.
  void run(Call& call, std::string_view reason) const;

 private:
  const Node* node_;
  Expected<Step> step_;
};

/// Makes what runs calls whose inputs have the types and shapes of this one, or declines them. Values of inputs may be
/// looked at only where they are constants of the graph.
using Planner = std::function<Expected<Step>(const Call&)>;

/// A step that plans once for each signature of its inputs (types and shapes) and thread count, and then runs the plan.
/// What the planner declines, and every call with an empty tensor, is run by the next kernel. oneDNN's failures become
/// Error. Several threads may run it at once.
Step planned(const NodeView& view, const CompileContext& context, Planner planner);

/// Nothing when input i of the node may be of this type; else why the kernel declines.
std::optional<Decline> wrong_type(const NodeView& view, int i, std::initializer_list<DType> accepted);

/// The constant that a kernel may prepare ahead in input i; null when there is none or weights may change.
const Tensor* packable(const NodeView& view, int i, const CompileContext& context);

}  // namespace mlopt::cpu
