// Groups of channels that come last, [batch, ..., groups, channels of each], normalized by operators of their own, as
// Keras writes GroupNormalization -> channels in front of pixels, InstanceNormalization of groups, scale and bias for
// each channel, and channels last again: group_norm then knows it, and Transposes meet those of convolutions.
#include "core/rewrite/axis_map.h"
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/numbers.h"

namespace mlopt::fusion {
namespace {

/// The operand of a mean, which stays as ones, over all axes but the batch and the groups before the last axis.
Value* mean_of(const Value* v, const Builder& builder) {
  const Node* node = producer_of(v, "ReduceMean");
  const auto dims = node ? node->input(0)->type.dims : std::nullopt;
  if (!dims || dims->size() < 4) return nullptr;
  const NodeView view = builder.view(*node);
  auto axes = view.ints("axes", 1);
  if (!axes || view.get_int("keepdims", 1) == 0) return nullptr;
  const auto rank = static_cast<int64_t>(dims->size());
  std::vector<bool> reduced(dims->size(), false);
  for (const int64_t axis : *axes) {
    if (axis < -rank || axis >= rank) return nullptr;
    reduced[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = true;
  }
  for (size_t i = 0; i < reduced.size(); ++i)
    if (reduced[i] == (i == 0 || i + 2 == reduced.size())) return nullptr;
  return node->input(0);
}

/// Groups as they are normalized.
struct Core {
  Value *x = nullptr, *mean = nullptr;  ///< [batch, ..., groups, channels of each] and its mean
  const Value* scale = nullptr;         ///< null: none
  double epsilon = 0;
};

/// 1 / sqrt(mean((x - mean(x))^2) + epsilon), perhaps times a constant.
std::optional<Core> inverse_of(const Value* v, const Builder& builder, const Value* scale = nullptr) {
  const Node* product = scale ? nullptr : producer_of(v, "Mul");
  for (const int i : {0, 1})
    if (product && product->input(i)->known_constant())
      return inverse_of(product->input(1 - i), builder, product->input(i));
  const Node *reciprocal = producer_of(v, "Reciprocal"), *quotient = producer_of(v, "Div");
  if (quotient && !is_number(quotient->input(0), 1, 8)) return std::nullopt;
  const Node* root = reciprocal ? producer_of(reciprocal->input(0), "Sqrt")
                     : quotient ? producer_of(quotient->input(1), "Sqrt")
                                : nullptr;
  const Node* sum = root ? producer_of(root->input(0), "Add") : nullptr;
  for (const int i : {0, 1}) {
    const auto epsilon = sum ? number_in(sum->input(1 - i), 8) : std::nullopt;
    const Value* squares = epsilon ? mean_of(sum->input(i), builder) : nullptr;
    const Node* square = producer_of(squares, "Mul");
    const Node* d = square && square->input(0) == square->input(1) ? producer_of(square->input(0), "Sub") : nullptr;
    if (!d || !(*epsilon >= 0) || mean_of(d->input(1), builder) != d->input(0)) continue;
    return Core{d->input(0), d->input(1), scale, *epsilon};
  }
  return std::nullopt;
}

/// The number or row that is added to -mean i; null where v is something else, `none` where nothing is added.
const Value* bias_of(const Value* v, const Value* mean, const Value* i, const Value* none) {
  const auto is_shift = [&](const Value* product, const Value* factor) {
    const Node* node = producer_of(product, "Mul");
    return node &&
           ((node->input(0) == factor && node->input(1) == i) || (node->input(1) == factor && node->input(0) == i));
  };
  const auto is_negative = [&](const Value* part) {
    if (const Node* negated = producer_of(part, "Neg")) return is_shift(negated->input(0), mean);
    const Node* node = producer_of(part, "Mul");
    for (const int k : {0, 1}) {
      const Node* negated = node ? producer_of(node->input(k), "Neg") : nullptr;
      if (negated && negated->input(0) == mean && node->input(1 - k) == i) return true;
    }
    return false;
  };
  if (is_negative(v)) return none;
  if (const Node* rest = producer_of(v, "Sub"))
    return rest->input(0)->known_constant() && is_shift(rest->input(1), mean) ? rest->input(0) : nullptr;
  const Node* sum = producer_of(v, "Add");
  for (const int k : {0, 1})
    if (sum && sum->input(k)->known_constant() && is_negative(sum->input(1 - k))) return sum->input(k);
  return nullptr;
}

/// The constant of groups and their channels for each channel, [channels, 1, ...]; nothing for other shapes.
std::optional<Tensor> by_channel(const Value& v, const SymDims& parted, DType type) {
  const Tensor& t = *v.known_constant();
  Dims dims = t.dims();
  while (dims.size() > 2 && dims.front() == 1) dims.erase(dims.begin());
  const bool fits = dims.size() == 2 && parted.end()[-2].is(dims[0]) && parted.back().is(dims[1]) && t.dtype() == type;
  Dims column(parted.size() - 2, 1);
  column[0] = t.size();
  return fits ? std::optional(t.reshaped(column)) : std::nullopt;
}

Expected<Replacement> write(const Core& core, const Value* bias, const Value* none, const Match& m, Builder& builder) {
  const Node* part = producer_of(core.x, "Reshape");
  Value* x = part ? part->input(0) : nullptr;
  const auto &dims = x ? x->type.dims : core.x->type.dims, &out = m.root->output(0)->type.dims;
  const SymDims& parted = *core.x->type.dims;
  if (!x || !dims || !out || *out != *dims || dims->size() + 1 != parted.size() ||
      !(dims->back() == parted.end()[-2] * parted.back()) || !(dims->front() == parted.front()))
    return Decline{"the channels are not parted into groups"};
  const auto groups = parted.end()[-2].value(), each = parted.back().value();
  if (!groups || !each || x->type.dtype != DType::kF32 || builder.opset() < 6) return Decline{"it is not float32"};
  const auto scale = core.scale ? by_channel(*core.scale, parted, x->type.dtype) : std::nullopt,
             shift = bias != none ? by_channel(*bias, parted, x->type.dtype) : std::nullopt;
  if ((core.scale && !scale) || (bias != none && !shift)) return Decline{"scale and bias are not one for each channel"};
  std::vector<int64_t> first(dims->size()), last(dims->size());
  first[0] = 0, first[1] = static_cast<int64_t>(dims->size()) - 1;
  for (size_t i = 2; i < first.size(); ++i) first[i] = static_cast<int64_t>(i) - 1;
  SymDims turned;
  for (size_t i = 0; i < first.size(); ++i) {
    last[static_cast<size_t>(first[i])] = static_cast<int64_t>(i);
    turned.push_back((*dims)[static_cast<size_t>(first[i])]);
  }
  const auto back = reshape_target(SymDims{(*dims)[0], *groups, Dim()}, turned);
  if (!back) return Decline{"a shape would have to be computed"};
  const auto row = [&](const char* name, float number) {
    const std::vector<float> numbers(static_cast<size_t>(*groups), number);
    return builder.constant(name, Tensor::of<float>({*groups}, numbers));
  };
  Value* y = builder.op("Transpose", {x}, {{"perm", first, ""}}, Type::tensor(x->type.dtype, turned));
  y = make_reshape(builder, y, {0, *groups, -1}, {});
  y = builder.op("InstanceNormalization", {y, row("scale", 1), row("bias", 0)},
                 {{"epsilon", static_cast<float>(core.epsilon), ""}});
  y = make_reshape(builder, y, *back, Type::tensor(x->type.dtype, turned));
  if (scale) y = builder.op("Mul", {y, builder.constant(core.scale->name, *scale)}, {}, y->type);
  if (shift) y = builder.op("Add", {y, builder.constant(bias->name, *shift)}, {}, y->type);
  return Replacement{builder.op("Transpose", {y}, {{"perm", last, ""}}, x->type)};
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node* sum = m.node("sum");
  for (const int at : {0, 1}) {
    const Node* product = producer_of(sum->input(at), "Mul");
    for (const int k : {0, 1}) {
      const Value* i = product ? product->input(k) : nullptr;
      const auto core = i ? inverse_of(i, builder) : std::nullopt;
      if (!core || core->x != product->input(1 - k)) continue;
      const Value* bias = bias_of(sum->input(1 - at), core->mean, i, core->mean);
      return bias ? write(*core, bias, core->mean, m, builder) : Decline{"another mean is subtracted"};
    }
  }
  return Decline{};
}

std::vector<Rule> rules() {
  Pattern sum = Pattern::op("Add", {Pattern::any("a"), Pattern::any("b")}).as("sum").single_use();
  return {{Pattern::op("Reshape", {std::move(sum)}).open(), rewrite}};
}

}  // namespace

const Pass fuse_last_groups_norm = {"fuse_last_groups_norm",
                                    "normalization of groups of channels that come last (Keras)", rules};

}  // namespace mlopt::fusion
