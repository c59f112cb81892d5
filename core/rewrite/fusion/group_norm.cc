// InstanceNormalization of groups of channels, then a scale and a bias for each channel -> GroupNormalization.
#include <algorithm>

#include "core/rewrite/fusion/counting.h"
#include "core/rewrite/fusion/passes.h"

namespace mlopt::fusion {
namespace {

/// The constant [C, 1, ...], or [1, C, 1, ...], with one number for each of the channels of a value of that rank.
std::optional<Tensor> per_channel(const Value& v, int64_t channels, size_t rank) {
  const Tensor& t = *v.known_constant();
  const auto given = static_cast<size_t>(t.rank());
  if (t.size() != channels || given > rank || given + 1 < rank) return std::nullopt;
  return t.dim(static_cast<int>(given + 1 - rank)) == channels ? std::optional(t.reshaped({channels})) : std::nullopt;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  if (builder.opset() < 21 || builder.target == Target::kOrt) return Decline{"GroupNormalization needs opset 21"};
  Value* x = m.value("x");
  const Node* norm = m.node("norm");
  const auto &dims = x->type.dims, &parted = m.node("part")->output(0)->type.dims;
  const auto channels = dims && dims->size() > 2 ? (*dims)[1].value() : std::nullopt;
  const auto groups = parted && parted->size() == 3 ? (*parted)[1].value() : std::nullopt;
  if (!channels || !groups || *groups < 1 || *channels % *groups != 0 || !((*parted)[0] == (*dims)[0]))
    return Decline{"the channels are not parted into groups"};
  const auto &back = m.node("back")->output(0)->type.dims, &out = m.root->output(0)->type.dims;
  if (!back || *back != *dims || !out || *out != *dims) return Decline{"the groups are not joined as they were parted"};
  if (only_number(norm->input(1)) != 1.0 || only_number(norm->input(2)) != 0.0)
    return Decline{"the groups have a scale or a bias of their own"};
  const auto scale = per_channel(*m.value("scale"), *channels, dims->size()),
             bias = per_channel(*m.value("bias"), *channels, dims->size());
  if (!scale || !bias) return Decline{"scale and bias are not one number for each channel"};
  std::vector<Value*> inputs{x, builder.successor(m.value("scale"), *scale), builder.successor(m.value("bias"), *bias)};
  std::vector<Attr> attrs{{"num_groups", *groups, ""},
                          {"epsilon", builder.view(*norm).get_float("epsilon", 1e-5f), ""}};
  return Replacement{builder.op("GroupNormalization", std::move(inputs), std::move(attrs), x->type)};
}

std::vector<Rule> rules() {
  Pattern part = Pattern::op("Reshape", {Pattern::any("x"), Pattern::any("first")}).as("part").single_use();
  Pattern norm =
      Pattern::op("InstanceNormalization", {std::move(part), Pattern::constant("ones"), Pattern::constant("zeros")})
          .as("norm")
          .single_use();
  Pattern back = Pattern::op("Reshape", {std::move(norm), Pattern::any("second")}).as("back").single_use();
  Pattern scaled = Pattern::op("Mul", {std::move(back), Pattern::constant("scale")}).any_order().single_use();
  return {{Pattern::op("Add", {std::move(scaled), Pattern::constant("bias")}).any_order(), rewrite}};
}

}  // namespace

const Pass group_norm = {"fuse_group_norm", "normalization of groups of channels as one operator", rules};

}  // namespace mlopt::fusion
