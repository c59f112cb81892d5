// InstanceNormalization, or LayerNormalization, of groups of channels, then a scale and a bias for each channel or
// neither -> GroupNormalization.
#include "core/rewrite/fusion/counting.h"
#include "core/rewrite/fusion/norm.h"
#include "core/rewrite/fusion/passes.h"
#include "core/tensor/cast.h"

namespace mlopt::fusion {
namespace {

/// The same number for each channel.
Value* filled(const char* name, int64_t channels, float number, DType type, Builder& builder) {
  const std::vector<double> numbers(static_cast<size_t>(channels), number);
  return builder.constant(name, cast(Tensor::of<double>({channels}, numbers), type));
}

/// Does it do nothing but normalize?
bool is_plain(const Node& norm, const Builder& builder) {
  const auto& dims = norm.input(0)->type.dims;
  const int64_t axis = builder.view(norm).get_int("axis", -1), rank = dims ? static_cast<int64_t>(dims->size()) : 0;
  const bool rows = norm.op != "LayerNormalization" || axis == 2 || axis + rank == 2;
  return rows && only_number(norm.input(1)) == 1.0 && (!norm.input(2) || only_number(norm.input(2)) == 0.0);
}

/// Is what the groups are joined to scaled by a constant, with which it is looked at again?
bool is_scaled(const Value& joined) {
  if (!joined.single_use() || !joined.uses[0].node->is("Mul")) return false;
  const Node* scaled = joined.uses[0].node;
  return scaled->input(0)->known_constant() || scaled->input(1)->known_constant();
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  if (builder.opset() < 21 || builder.target == Target::kOrt) return Decline{"GroupNormalization needs opset 21"};
  const bool bare = !m.has("scale");
  if (bare && is_scaled(*m.root->output(0))) return Decline{};
  Value* x = m.value("x");
  const Node* norm = m.node("norm");
  const auto &dims = x->type.dims, &parted = m.node("part")->output(0)->type.dims;
  const auto channels = dims && dims->size() > 2 ? (*dims)[1].value() : std::nullopt;
  const auto groups = parted && parted->size() > 2 ? (*parted)[1].value() : std::nullopt;
  if (!channels || !groups || *groups < 1 || *channels % *groups != 0 || !((*parted)[0] == (*dims)[0]))
    return Decline{"the channels are not parted into groups"};
  const auto &back = (bare ? m.root : m.node("back"))->output(0)->type.dims, &out = m.root->output(0)->type.dims;
  if (!back || *back != *dims || !out || *out != *dims) return Decline{"the groups are not joined as they were parted"};
  if (!is_plain(*norm, builder)) return Decline{"the groups have a scale or a bias of their own"};
  std::vector<Value*> inputs{x};
  if (bare) {
    inputs.push_back(filled("scale", *channels, 1, x->type.dtype, builder));
    inputs.push_back(filled("bias", *channels, 0, x->type.dtype, builder));
  } else {
    const auto scale = by_channel(m.constant("scale"), *channels, dims->size()),
               bias = by_channel(m.constant("bias"), *channels, dims->size());
    if (!scale || !bias) return Decline{"scale and bias are not one number for each channel"};
    inputs.push_back(builder.successor(m.value("scale"), *scale));
    inputs.push_back(builder.successor(m.value("bias"), *bias));
  }
  std::vector<Attr> attrs{{"num_groups", *groups, ""},
                          {"epsilon", builder.view(*norm).get_float("epsilon", 1e-5f), ""}};
  if (x->type.dtype == DType::kF64) attrs.push_back({"stash_type", static_cast<int64_t>(DType::kF64), ""});
  return Replacement{builder.op("GroupNormalization", std::move(inputs), std::move(attrs), x->type)};
}

std::vector<Rule> rules() {
  const auto joined = [] {
    Pattern part = Pattern::op("Reshape", {Pattern::any("x"), Pattern::any("first")}).as("part").single_use();
    Pattern norm = Pattern::op("InstanceNormalization|LayerNormalization", {std::move(part), Pattern::constant("ones")})
                       .open()
                       .as("norm")
                       .single_use();
    return Pattern::op("Reshape", {std::move(norm), Pattern::any("second")});
  };
  Pattern scaled =
      Pattern::op("Mul", {joined().as("back").single_use(), Pattern::constant("scale")}).any_order().single_use();
  return {{Pattern::op("Add", {std::move(scaled), Pattern::constant("bias")}).any_order(), rewrite},
          {joined(), rewrite}};
}

}  // namespace

const Pass fuse_group_norm = {"fuse_group_norm", "normalization of groups of channels as one operator", rules};

}  // namespace mlopt::fusion
