// Attention that puts keys and values behind those of the past -> Concat of both, and attention over all of them.
#include "core/rewrite/lower/key_masks.h"
#include "core/rewrite/lower/passes.h"

namespace mlopt::lower {
namespace {

constexpr int kMask = 3;  // of the standard's inputs

/// [batch, rows, heads * size] as [batch, heads, rows, size].
Value* as_heads(Value* x, int64_t heads, Builder& b) {
  if (x->type.dims->size() == 4) return x;
  Value* apart = b.op("Reshape", {x, b.constant("shape", Tensor::ints({0, 0, heads, -1}))});
  return b.op("Transpose", {apart}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}, ""}});
}

bool is_known(const Value* x, size_t axes) {
  return x && x->type.dtype == DType::kF32 && x->type.dims && x->type.dims->size() == axes;
}

/// Keys of a window that is not open, which counts from the end of the past, as a mask.
Expected<Tensor> others_hidden(const KeyWindow& window, const Node& node, int past) {
  const auto rows = [](const Value* x) {
    const SymDims& dims = *x->type.dims;
    return dims[dims.size() - 2].value();
  };
  const auto queries = rows(node.input(0)), keys = rows(node.input(1)), before = rows(node.input(past));
  if (!queries || !keys || !before) return Decline{"later keys are hidden"};
  const Value* mask = node.input(kMask);
  if (mask && !covers_keys(*mask, *before + *keys)) return Decline{"later keys are hidden"};
  return hidden_keys(window, *queries, *before + *keys, *before);
}

/// The past is in inputs `past` and the next. Queries become heads too where the standard wants that.
Expected<Replacement> rewrite(const Match& m, Builder& b, int past) {
  const Node& node = *m.root;
  const bool standard = node.domain.empty();
  const NodeView view = b.view(node);
  if (b.opset() < 13 || !node.input(0) || !node.input(past) || !node.input(past + 1)) return Decline{};
  const size_t axes = node.input(0)->type.dims ? node.input(0)->type.dims->size() : 0;
  for (int i = 0; i < 3; ++i)
    if (!is_known(node.input(i), axes) || (axes != 3 && !(standard && axes == 4)))
      return Decline{"it is not float32 of known rank"};
  if (!is_known(node.input(past), 4) || !is_known(node.input(past + 1), 4)) return Decline{"the past has no heads"};
  if (node.outputs().size() > 3 || (!standard && node.input(3)))
    return Decline{"scores are wanted, or a bias is added"};
  const KeyWindow window = key_window(view);
  std::optional<Tensor> others;
  if (!window.is_open()) {
    if (!standard) return Decline{"later keys are hidden"};
    auto hidden = others_hidden(window, node, past);
    if (!hidden) return hidden.error();
    others = *std::move(hidden);
  }
  for (int i = past + 2; i < static_cast<int>(node.inputs().size()); ++i)
    if (node.input(i)) return Decline{"lengths are given"};
  const int64_t heads = view.get_int(standard ? "kv_num_heads" : "num_heads", 0);
  std::vector<Value*> inputs = node.inputs();
  inputs.resize(static_cast<size_t>(past));
  for (int i = 0; i < 2; ++i) {
    Value* made = as_heads(node.input(i + 1), heads, b);
    inputs[static_cast<size_t>(i) + 1] = b.op("Concat", {node.input(past + i), made}, {{"axis", int64_t{2}, ""}});
  }
  Value *k = inputs[1], *v = inputs[2];
  if (!standard) return Replacement{b.contrib(node.op, std::move(inputs), node.attrs, node.output(0)->type), k, v};
  inputs[0] = as_heads(inputs[0], view.get_int("q_num_heads", 0), b);
  std::vector<Attr> attrs = node.attrs;
  if (others) {
    inputs[kMask] = joined_masks(mask_numbers(inputs[kMask], b), b.constant("others", *others), b);
    std::erase_if(attrs, [](const Attr& a) { return a.name == "is_causal" || a.name.ends_with("_window_size"); });
  }
  Value* y = b.op(node.op, std::move(inputs), std::move(attrs));
  if (axes == 4) return Replacement{y, k, v};
  y = b.op("Transpose", {y}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}, ""}});
  return Replacement{b.op("Reshape", {y, b.constant("shape", Tensor::ints({0, 0, -1}))}), k, v};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Attention", {}).open(), [](const Match& m, Builder& b) { return rewrite(m, b, 4); }},
          {Pattern::op("MultiHeadAttention", {}).open().domain("com.microsoft"),
           [](const Match& m, Builder& b) { return rewrite(m, b, 6); }}};
}

}  // namespace

const Pass attention_past = {"attention_past", "keys and values behind those of the past, before attention", rules};

}  // namespace mlopt::lower
