// RandomUniform, RandomNormal, their Like forms and Bernoulli -> mlopt.SeededUniform and SeededNormal, whose numbers
// follow from a constant key: the node's seed or, where it has none, its name.
#include <bit>

#include "core/rewrite/lower/draw.h"
#include "core/rewrite/lower/passes.h"
#include "core/tensor/cast.h"

namespace mlopt::lower {
namespace {

/// A value of the shape and the type of the result.
Expected<Value*> like(const Node& node, Builder& builder) {
  const NodeView view = builder.view(node);
  Value* given = node.input(0);
  const auto type =
      static_cast<DType>(view.get_int("dtype", static_cast<int64_t>(given ? given->type.dtype : DType::kF32)));
  if (!is_float(type)) return Decline{"not of floats"};
  if (given && given->type.dtype == type) return given;
  const Type made = Type::tensor(type, given ? given->type.dims : std::nullopt);
  if (given) return builder.op("Cast", {given}, {{"to", static_cast<int64_t>(type), ""}}, made);
  Value* dims = builder.constant("dims", Tensor::ints(view.get_ints("shape")));
  return builder.op("ConstantOfShape", {dims}, {{"value", cast(Tensor::of<float>({1}, {0}), type), ""}});
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const NodeView view = builder.view(*m.root);
  const bool normal = m.root->op.starts_with("RandomNormal");
  const auto of = like(*m.root, builder);
  if (!of) return of.error();
  const Type& made = m.root->output(0)->type;
  const DType type = (*of)->type.dtype == DType::kUndefined ? made.dtype : (*of)->type.dtype;
  const float first = normal ? view.get_float("mean", 0) : view.get_float("low", 0);
  const float span = normal ? view.get_float("scale", 1) : view.get_float("high", 1) - first;
  Value* numbers = draw(builder, *m.root, normal ? "SeededNormal" : "SeededUniform", *of);
  const auto number = [&](const char* hint, float v) { return builder.constant(hint, cast(Tensor::scalar(v), type)); };
  if (span != 1) numbers = builder.op("Mul", {numbers, number("span", span)}, {}, made);
  if (first != 0) numbers = builder.op("Add", {numbers, number("first", first)}, {}, made);
  return Replacement{numbers};
}

/// 1 with the probability that is given: where a number below 1 is below it.
Expected<Replacement> rewrite_bernoulli(const Match& m, Builder& builder) {
  Value* share = m.root->input(0);
  const auto cast_to = [&](Value* x, DType type) {
    return builder.op("Cast", {x}, {{"to", static_cast<int64_t>(type), ""}}, Type::tensor(type, share->type.dims));
  };
  if (share->type.dtype == DType::kF16 || share->type.dtype == DType::kBF16) share = cast_to(share, DType::kF32);
  Value* numbers = draw(builder, *m.root, "SeededUniform", share);
  Value* below = builder.op("Less", {numbers, share}, {}, Type::tensor(DType::kBool, share->type.dims));
  const auto type =
      static_cast<DType>(builder.view(*m.root).get_int("dtype", static_cast<int64_t>(m.root->input(0)->type.dtype)));
  return Replacement{type == DType::kBool ? below : cast_to(below, type)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Bernoulli", {Pattern::any("share")}), rewrite_bernoulli},
          {Pattern::op("RandomUniform|RandomNormal|RandomUniformLike|RandomNormalLike", {}).open(), rewrite}};
}

int64_t key_of(const Node& node) {
  if (const Attr* seed = node.attr("seed")) {
    if (const auto* number = std::get_if<float>(&seed->value)) return std::bit_cast<int32_t>(*number);
    if (const auto* number = std::get_if<int64_t>(&seed->value)) return *number;
  }
  // FNV-1a: the same on every machine.
  uint64_t hash = 14695981039346656037u;
  for (const char c : node.called()) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return static_cast<int64_t>(hash);
}

}  // namespace

Value* draw(Builder& builder, const Node& node, const char* op, Value* like) {
  Value* key = builder.constant("key", Tensor::ints({key_of(node)}));
  Value* numbers = builder.node(op, {like, key}, {}, op, 1, "mlopt")->output(0);
  numbers->type = like->type;
  return numbers;
}

const Pass random = {"random", "random numbers that follow from a key", rules};

}  // namespace mlopt::lower
