// LayerNormalization(x + y) -> SkipLayerNormalization(x, y), RMSNormalization likewise, for ONNX Runtime on GPUs; a row
// that is added to x joins as the bias. On the CPU the operator takes longer than the two, five times as long for
// LayerNormalization, so that it is written only where it is asked for.
#include <optional>

#include "core/rewrite/fusion/norm.h"
#include "core/rewrite/fusion/passes.h"

namespace mlopt::fusion {
namespace {

bool same_shape(const Value* a, const Value* b) {
  const auto &x = a->type.dims, &y = b->type.dims;
  return x && y && a->type.dtype == b->type.dtype && *x == *y;
}

/// The operands of SkipLayerNormalization.
struct Operands {
  Value *input, *skip, *bias = nullptr;
};

/// Takes apart input + bias where nothing else reads that sum and the bias is a row.
bool take_bias(Operands& o, Value* x, Value* skip, int64_t width) {
  const Node* sum = x->producer;
  if (!sum || !sum->is("Add") || !x->single_use()) return false;
  for (const int i : {0, 1}) {
    Value *row = sum->input(i), *rest = sum->input(1 - i);
    if (!row->known_constant() || row->known_constant()->dims() != Dims{width} || !same_shape(rest, skip)) continue;
    o = {rest, skip, row};
    return true;
  }
  return false;
}

/// Length of the one normalized axis; nothing where the operator cannot be ONNX Runtime's.
std::optional<int64_t> width_of(const Node& norm, const NodeView& view) {
  const auto& dims = norm.input(0)->type.dims;
  const auto scale = norm.input(1) ? norm.input(1)->type.static_dims() : std::nullopt;
  if (!dims || dims->size() < 2 || dims->size() > 3 || norm.input(0)->type.dtype != DType::kF32) return std::nullopt;
  const int64_t axis = view.get_int("axis", -1), rank = static_cast<int64_t>(dims->size());
  if ((axis != -1 && axis != rank - 1) || !scale || scale->size() != 1 || !dims->back().is(scale->front()))
    return std::nullopt;
  if (norm.input(2) && norm.input(2)->type.static_dims() != scale) return std::nullopt;
  return scale->front();
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  if (builder.target != Target::kOrt) return Decline{"only ONNX Runtime has it"};
  const Node *norm = m.root, *sum = m.node("sum");
  const auto width = width_of(*norm, builder.view(*norm));
  if (!width || norm->outputs().size() != 1) return Decline{"it is not float32, or not over the last axis alone"};
  Value *a = m.value("a"), *b = m.value("b"), *total = sum->output(0);
  Operands o{a, b};
  if (!take_bias(o, a, b, *width) && !take_bias(o, b, a, *width) && !same_shape(a, b))
    return Decline{"the operands of the sum may differ in shape"};
  if (total->is_output() || !total->single_use()) return Decline{"something else reads the sum"};
  const bool centered = norm->op == "LayerNormalization";
  std::vector<Value*> inputs{o.input, o.skip, norm->input(1)};
  if (centered && (norm->input(2) || o.bias)) inputs.push_back(norm->input(2));
  if (o.bias) inputs.push_back(o.bias);
  const float epsilon = builder.view(*norm).get_float("epsilon", 1e-5f);
  return Replacement{builder.contrib(centered ? "SkipLayerNormalization" : "SkipSimplifiedLayerNormalization",
                                     std::move(inputs), {{"epsilon", epsilon, ""}}, norm->output(0)->type)};
}

std::vector<Rule> rules() {
  Pattern sum = Pattern::op("Add|Sum", {Pattern::any("a"), Pattern::any("b")}).as("sum");
  return {{Pattern::op("LayerNormalization|RMSNormalization|SimplifiedLayerNormalization", {std::move(sum)}).open(),
           rewrite}};
}

}  // namespace

const Pass fuse_skip_norm = {
    "fuse_skip_norm", "the sum before a normalization as part of it, for GPUs (--target ort; only where it is named)",
    rules};

}  // namespace mlopt::fusion
