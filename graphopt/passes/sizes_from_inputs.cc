// Shape arithmetic that gives sizes of an input of the model as they stand there -> Shape(input): what lies between is
// not kept, nor kept from being fused, for its shape alone. Keras' causal mask asks the scores for their size.
#include <algorithm>

#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

/// An input that has these sizes one after the other, and where they begin.
struct Source {
  Value* input = nullptr;
  int64_t start = 0;
};

std::optional<Source> source_of(const SymDims& sizes, const Graph& graph) {
  for (Value* input : graph.inputs()) {
    if (!input->type.is_tensor() || !input->type.dims || input->constant) continue;
    const SymDims& dims = *input->type.dims;
    const auto at = std::search(dims.begin(), dims.end(), sizes.begin(), sizes.end());
    if (at != dims.end()) return Source{input, at - dims.begin()};
  }
  return std::nullopt;
}

/// Is it read from an input already?
bool is_direct(const Node& node) {
  const Node* shape = node.is("Cast") ? node.input(0)->producer : &node;
  return shape && shape->is("Shape") && shape->input(0)->is_input;
}

/// A Concat of sizes that others read too, for another Concat: that takes them as they are, for one operator less.
bool is_part_of_concat(const Node& node) {
  const auto read_elsewhere = [](const Value* v) {
    return v->uses.size() > 1 || v->is_output() || v->known_constant();
  };
  const Value* y = node.output(0);
  return node.is("Concat") && y->single_use() && y->uses[0].node->is("Concat") &&
         std::all_of(node.inputs().begin(), node.inputs().end(), read_elsewhere);
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  constexpr int64_t kSince = 15;
  const Value* y = m.root->output(0);
  const auto dims = y->type.static_dims();
  const bool whole_numbers = y->type.dtype == DType::kI64 || y->type.dtype == DType::kI32;
  if (!y->symbolic || y->symbolic->empty() || !dims || dims->size() != 1 || !whole_numbers) return Decline{};
  if (is_part_of_concat(*m.root)) return Decline{"another Concat takes its parts"};
  if (builder.graph.owner || is_direct(*m.root) || (*dims)[0] != std::ssize(*y->symbolic)) return Decline{};
  const bool known = std::all_of(y->symbolic->begin(), y->symbolic->end(), [](const Dim& d) { return d.known(); });
  const auto source = known ? source_of(*y->symbolic, builder.graph) : std::nullopt;
  if (!source) return Decline{"they are not known to be sizes of one input"};
  const int64_t end = source->start + (*dims)[0], rank = std::ssize(*source->input->type.dims);
  if ((source->start > 0 || end < rank) && !builder.has(kSince))
    return Decline{"Shape gives all sizes before opset 15"};
  Value* sizes = make_shape(builder, source->input, source->start, end, Type::tensor(DType::kI64, *y->type.dims));
  if (y->type.dtype != DType::kI64)
    sizes = builder.op("Cast", {sizes}, {{"to", static_cast<int64_t>(DType::kI32), ""}}, y->type);
  return Replacement{sizes};
}

/// One size as a number: Gather(Shape(x), i) -> Gather(Shape(input), i).
Expected<Replacement> one_size(const Match& m, Builder& builder) {
  const Value* y = m.root->output(0);
  const Node& shape = *m.node("shape");
  if (!y->symbolic || y->symbolic->size() != 1 || y->type.static_dims() != Dims{}) return Decline{};
  if (builder.graph.owner || is_direct(shape) || !y->symbolic->front().known()) return Decline{};
  const auto gathers = [](const Use& use) { return use.node->is("Gather"); };
  const auto& uses = shape.output(0)->uses;
  if (shape.output(0)->is_output() || !std::all_of(uses.begin(), uses.end(), gathers))
    return Decline{"the other sizes are used too"};
  const auto source = source_of(*y->symbolic, builder.graph);
  if (!source) return Decline{"they are not known to be sizes of one input"};
  const int64_t rank = std::ssize(*source->input->type.dims);
  Value* sizes = builder.op("Shape", {source->input}, {}, Type::tensor(DType::kI64, {rank}));
  Value* at = builder.constant("axis", Tensor::scalar(source->start));
  return Replacement{builder.op("Gather", {sizes, at}, {}, y->type)};
}

std::vector<Rule> rules() {
  Pattern shape = Pattern::op("Shape", {Pattern::any("")}).as("shape");
  return {
      {Pattern::op("Gather", {std::move(shape), Pattern::any("")}), one_size},
      {Pattern::op("Shape|Cast|Slice|Gather|Concat|Unsqueeze|Squeeze|Reshape|Add|Sub|Mul|Div|Max|Min|Where", {}).open(),
       rewrite}};
}

}  // namespace

const Pass sizes_from_inputs = {"sizes_from_inputs", "read sizes of the model's inputs from these", rules};

}  // namespace mlopt::graphopt
