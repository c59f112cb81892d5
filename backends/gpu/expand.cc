#include "backends/gpu/expand.h"

#include <algorithm>
#include <array>
#include <string>

#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"
#include "core/base/error.h"
#include "core/exec/inferred.h"
#include "core/exec/plan_step.h"
#include "core/onnx/tools.h"
#include "core/rewrite/inline_if.h"
#include "core/rewrite/lower/passes.h"

namespace mlopt::gpu {
namespace {

constexpr const char* kDomain = "mlopt.function";  // of the call that stands for a node meanwhile
constexpr int kMostRounds = 3;                     // operators in bodies of operators

/// What the standard defines by others, and kernels run in part: not with all types, outputs or attributes.
constexpr std::array<std::string_view, 3> kRunInPart{"Attention", "Clip", "LayerNormalization"};

/// Does a kernel plan the node as it is?
bool is_planned(const Node& node, int64_t opset) {
  const CompileContext context;
  Site site{NodeView(node, opset), {}, Layout::kRowMajor, context};
  for (const Value* v : node.inputs()) site.in.push_back(v ? inferred(*v) : std::nullopt);
  for (const Kernel& kernel : all_kernels()) {
    if (kernel.op != node.op || kernel.domain != node.domain) continue;
    const auto step = plan_step(kernel.plan, site);
    if (step && step->out.size() >= node.outputs().size()) return true;
  }
  return false;
}

bool is_left_to_kernels(const Node& node, int64_t opset) {
  const bool in_part = std::find(kRunInPart.begin(), kRunInPart.end(), node.op) != kRunInPart.end();
  return is_runnable(node) && (!in_part || is_planned(node, opset));
}

/// What is known, or will be, runs nowhere; what is of other types than the device's runs nowhere else.
bool is_wanted(const Node& node, int64_t opset) {
  if (!node.domain.empty() && node.domain != "ai.onnx.preview") return false;
  const auto on_device = [](const Value* v) { return !v || (v->type.is_tensor() && elem_of(v->type.dtype)); };
  const auto is_known = [](const Value* v) { return !v || v->known_constant(); };
  return std::all_of(node.inputs().begin(), node.inputs().end(), on_device) &&
         !std::all_of(node.inputs().begin(), node.inputs().end(), is_known) &&
         !std::all_of(node.outputs().begin(), node.outputs().end(), is_known) && !is_left_to_kernels(node, opset);
}

/// What every opset from 13 on has as 13 has it, but for types and attributes that are new.
constexpr std::array<std::string_view, 34> kStable{
    "Abs",   "Add",    "Cast",    "CastLike", "Clip",    "Concat",    "Constant", "Div",   "Equal",
    "Exp",   "Expand", "Flatten", "Gather",   "Greater", "Identity",  "Less",     "Log",   "Max",
    "Mean",  "Min",    "Mul",     "Neg",      "Pow",     "ReduceSum", "Reshape",  "Shape", "Size",
    "Slice", "Sqrt",   "Squeeze", "Sub",      "Sum",     "Transpose", "Unsqueeze"};

bool is_reduction(const Node& node) { return node.op.starts_with("Reduce") && node.op != "ReduceSum"; }

/// From opset 18 on reductions read their axes.
void read_axes(mlopt::Graph& body, Node* node) {
  const Attr* axes = node->attr("axes");
  if (!axes) return;
  Attr ints = *axes;
  ints.name = "value_ints";
  body.set_input(node, 1, body.add_op("Constant", {}, {std::move(ints)}, node, "axes")->output(0));
  node->remove_attr("axes");
}

/// Writes a body of an older opset as that of the model has it, where its operators are such.
void raise_opset(Function& function, int64_t opset) {
  for (OpsetImport& import : function.opsets) {
    if (!import.domain.empty() || import.version < 13 || import.version >= opset) continue;
    const std::vector<Node*> nodes = all_nodes(*function.body);
    const auto is_stable = [&](const Node* n) {
      return !n->domain.empty() || is_reduction(*n) ||
             std::find(kStable.begin(), kStable.end(), n->op) != kStable.end();
    };
    if (!std::all_of(nodes.begin(), nodes.end(), is_stable)) continue;
    for (Node* node : nodes)
      if (is_reduction(*node) && import.version < 18 && opset >= 18) read_axes(*node->graph(), node);
    import.version = opset;
  }
}

/// Bodies make a vector of one number of a scalar where their constants are such.
void keep_scalar(mlopt::Graph& graph, Node* node) {
  Value *x = node->input(0), *y = node->output(0);
  if (!x || !y || x->type.static_dims() != Dims{} || y->type.static_dims() != Dims{}) return;
  Value* dims = graph.add_constant("no_dims", Tensor::ints({}));
  Node* scalar = graph.add_op("Reshape", {dims, dims}, {}, graph.next(node), y->name);
  scalar->output(0)->type = y->type;
  graph.replace_uses(y, scalar->output(0));
  graph.set_input(scalar, 0, y);
  y->type.dims.reset();
}

/// Makes the node a call of a function of its own, by whose label what cannot be planned of the body will go.
void make_call(Model& model, Node* node, Function function) {
  const std::vector<std::string> origins = node->origins.empty() ? std::vector{node->label()} : node->origins;
  for (Node* made : function.body->nodes()) made->origins = origins;
  function.domain = node->domain = kDomain;
  function.name = node->op;
  function.overload = node->overload = std::to_string(model.functions.size());
  model.functions.push_back(std::move(function));
}

/// Whether anything was replaced and all of it could be.
bool expand_once(Model& model) {
  for (Node* node : model.graph->nodes()) {
    const int64_t opset = model.opset(node->domain);
    if (!is_wanted(*node, opset)) continue;
    std::optional<Function> function = standard_function(NodeView(*node, opset));
    if (!function) continue;
    model.set_opset(kDomain, 1);
    raise_opset(*function, model.opset());
    keep_scalar(*model.graph, node);
    make_call(model, node, *std::move(function));
  }
  if (model.functions.empty()) return false;
  try {
    inline_functions(model);
  } catch (const Error&) {  // a body of another opset: the nodes are refused as they are
    return false;
  }
  return true;
}

}  // namespace

void expand_functions(Model& model, TypeRule types) {
  static constexpr std::array kOpening{&lower::cast_like,
                                       &inline_if,
                                       &lower::loops,
                                       &lower::bitwise_not,
                                       &lower::compress,
                                       &lower::stft,
                                       &lower::dropout,
                                       &lower::random,
                                       &lower::one_hot,
                                       &lower::pow_types,
                                       &lower::shrink,
                                       &lower::wide_integers,
                                       &lower::recurrent_layout,
                                       &lower::preview_training,
                                       &lower::binarizer,
                                       &lower::array_feature_extractor,
                                       &affine_grid};
  PassContext context;
  context.standard_types = types;
  context.keep_outputs = false;
  for (int round = 0;; ++round) {
    for (const Pass* pass : kOpening) run_pass(model, *pass, context);
    if (round == kMostRounds || !model.functions.empty()) return;
    Model expanded = clone(model);
    if (!expand_once(expanded)) return;
    infer(expanded, types, false);
    model = std::move(expanded);
  }
}

}  // namespace mlopt::gpu
