// Scores [batch * windows, heads, rows, keys], seen by windows for a mask of each (shifted windows, as in Swin), and
// joined again for the softmax -> scores + (bias + mask), repeated for every sample, as attention takes it.
#include "core/rewrite/axis_map.h"
#include "core/rewrite/fusion/lengths.h"
#include "core/rewrite/fusion/passes.h"

namespace mlopt::fusion {
namespace {

/// Scores, and the addend that all windows share; null where there is none.
struct Biased {
  Value *scores = nullptr, *bias = nullptr;
};

Biased biased(Value* v) {
  const Node* sum = v->single_use() && v->producer && v->producer->is("Add") ? v->producer : nullptr;
  for (const int i : {0, 1}) {
    Value* bias = sum ? sum->input(i) : nullptr;
    const auto dims = bias ? bias->type.static_dims() : std::nullopt;
    const Value* scores = sum ? sum->input(1 - i) : nullptr;
    if (dims && dims->size() == 4 && (*dims)[0] == 1 && scores->type.dims == v->type.dims)
      return {sum->input(1 - i), bias};
  }
  return {v, nullptr};
}

/// The mask with five axes; nothing where it is another one for each sample.
std::optional<Tensor> by_windows(const Tensor& mask, const Dim& windows) {
  Dims dims = mask.dims();
  if (dims.size() == 4) dims.insert(dims.begin(), 1);
  return dims.size() == 5 && dims[0] == 1 && windows.is(dims[1]) ? std::optional(mask.reshaped(dims)) : std::nullopt;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* v = m.value("scores");
  const Value* joined = m.root->output(0);
  const auto &from = v->type.dims, &parted = m.node("part")->output(0)->type.dims, &to = joined->type.dims;
  if (!joined->single_use() || !joined->uses[0].node->is("Softmax")) return Decline{};
  if (!from || from->size() != 4 || !parted || parted->size() != 5 || !to || *to != *from)
    return Decline{"not scores of windows"};
  const SymDims whole{(*parted)[0] * (*parted)[1], (*parted)[2], (*parted)[3], (*parted)[4]};
  if (whole != *from || !(*parted)[1].value()) return Decline{"not scores of windows"};
  if (!builder.has(23) && builder.target != Target::kOrt) return Decline{"Attention needs opset 23"};
  const auto mask = by_windows(m.constant("mask"), (*parted)[1]);
  if (!mask || !(*from)[2].is(mask->dim(3)) || !(*from)[3].is(mask->dim(4)))
    return Decline{"the mask is not one for each window"};
  const Dim& batch = (*parted)[0];
  Value* shape = batch.is(1) ? nullptr : shape_with(batch, 0, 5, builder);
  if (!shape && !batch.is(1)) return Decline{"no input of the graph has the samples as an axis"};
  const Biased scores = biased(v);
  Value* added = builder.successor(m.value("mask"), *mask);
  if (scores.bias) added = builder.op("Add", {added, scores.bias});
  if (shape) added = builder.op("Expand", {added, shape});
  const int64_t own = scores.bias ? scores.bias->type.static_dims()->at(1) : 1;
  const int64_t heads = own == 1 ? mask->dim(2) : own;
  added = make_reshape(builder, added, {-1, heads, mask->dim(3), mask->dim(4)},
                       Type::tensor(v->type.dtype, SymDims{(*from)[0], heads, mask->dim(3), mask->dim(4)}));
  return Replacement{builder.op("Add", {scores.scores, added}, {}, v->type)};
}

std::vector<Rule> rules() {
  Pattern part = Pattern::op("Reshape", {Pattern::any("scores")}).open().as("part").single_use();
  Pattern sum = Pattern::op("Add", {std::move(part), Pattern::constant("mask")}).any_order().single_use();
  return {{Pattern::op("Reshape", {std::move(sum)}).open(), rewrite}};
}

}  // namespace

const Pass fuse_window_mask = {"fuse_window_mask", "a mask of each window as one that is added to all scores", rules};

}  // namespace mlopt::fusion
