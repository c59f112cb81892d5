// Rows as channels of one sample, normalized by BatchNormalization with mean and variance of their own, and back, as
// Keras writes LayerNormalization -> LayerNormalization.
#include <algorithm>

#include "core/rewrite/fusion/counting.h"
#include "core/rewrite/fusion/norm.h"
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/numbers.h"

namespace mlopt::fusion {
namespace {

/// The operand of a reduction over all axes but the second.
Value* reduced(const Value* v, std::string_view op, const Builder& builder) {
  const Node* node = producer_of(v, op);
  auto axes = node ? builder.view(*node).ints("axes", 1) : std::nullopt;
  if (!axes) return nullptr;
  for (int64_t& axis : *axes) axis += axis < 0 ? 4 : 0;
  std::sort(axes->begin(), axes->end());
  return *axes == std::vector<int64_t>{0, 2, 3} ? node->input(0) : nullptr;
}

/// The mean of each row, as [1, rows, 1, 1]; null where v is something else.
Value* mean_of(const Value* v, const Value* rows, const Builder& builder) {
  const Node* node = v->producer;
  const bool flat = node && (node->is("Squeeze") || node->is("Reshape"));
  Value* mean = flat ? node->input(0) : nullptr;
  if (!mean || reduced(mean, "ReduceMean", builder) != rows) return nullptr;
  return builder.view(*mean->producer).get_int("keepdims", 1) != 0 ? mean : nullptr;
}

/// Is v the sum of (rows - mean)^2, divided by `length`?
bool is_variance(const Value* v, const Value* rows, const Value* mean, int64_t length, const Builder& builder) {
  const Node* scaled = v->producer;
  if (!scaled || !(scaled->is("Mul") || scaled->is("Div"))) return false;
  const double part = scaled->is("Div") ? static_cast<double>(length) : 1 / static_cast<double>(length);
  for (const int i : {0, 1}) {
    const Node* d = producer_of(reduced(scaled->input(i), "ReduceSumSquare", builder), "Sub");
    if (!d || d->input(0) != rows || d->input(1) != mean || (i == 1 && scaled->is("Div"))) continue;
    return is_number(scaled->input(1 - i), part);
  }
  return false;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value *x = m.value("x"), *rows = m.node("rows")->output(0);
  const Node* norm = m.node("norm");
  const auto &in = x->type.dims, &parted = rows->type.dims, &out = m.root->output(0)->type.dims;
  const auto length = in && !in->empty() ? in->back().value() : std::nullopt;
  if (!length || *length < 1 || !out || *in != *out || !parted || parted->size() != 4)
    return Decline{"not rows as channels"};
  if (!(*parted)[0].is(1) || !(*parted)[2].is(*length) || !(*parted)[3].is(1)) return Decline{"not rows as channels"};
  if (only_number(norm->input(1)) != 1.0 || only_number(norm->input(2)) != 0.0)
    return Decline{"it has a scale or a bias of its own"};
  const NodeView view = builder.view(*norm);
  Value* mean = mean_of(norm->input(3), rows, builder);
  if (!mean || !is_variance(norm->input(4), rows, mean, *length, builder) || view.get_int("training_mode", 0) != 0)
    return Decline{"mean and variance are not the rows' own"};
  if (const char* why = no_norm(true, *x, builder)) return Decline{why};
  const std::vector<double> ones(static_cast<size_t>(*length), 1);
  Value* scale = builder.constant("scale", cast(Tensor::of<double>({*length}, ones), x->type.dtype));
  std::vector<Attr> attrs{{"axis", int64_t{-1}, ""}, {"epsilon", view.get_float("epsilon", 1e-5f), ""}};
  return Replacement{builder.op("LayerNormalization", {x, scale}, std::move(attrs), x->type)};
}

std::vector<Rule> rules() {
  Pattern rows = Pattern::op("Reshape", {Pattern::any("x")}).open().as("rows");
  Pattern norm = Pattern::op("BatchNormalization", {std::move(rows), Pattern::any("s"), Pattern::any("b"),
                                                    Pattern::any("m"), Pattern::any("v")})
                     .as("norm")
                     .single_use();
  return {{Pattern::op("Reshape", {std::move(norm)}).open(), rewrite}};
}

}  // namespace

const Pass fuse_rows_norm = {"fuse_rows_norm",
                             "rows that BatchNormalization normalizes each by itself (Keras), as LayerNorm", rules};

}  // namespace mlopt::fusion
