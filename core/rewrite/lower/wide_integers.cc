// What runs along an axis of booleans and of integers of 8 and 16 bits -> the same of int32.
#include "core/rewrite/lower/passes.h"

namespace mlopt::lower {
namespace {

bool is_narrow(DType type) {
  return type == DType::kBool || (is_integer(type) && (bits(type) == 8 || bits(type) == 16));
}

Value* as(Builder& builder, Value* v, DType type) {
  return builder.op("Cast", {v}, {{"to", static_cast<int64_t>(type), ""}}, Type::tensor(type, v->type.dims));
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node& node = *m.root;
  const DType narrow = node.input(0) ? node.input(0)->type.dtype : DType::kUndefined;
  if (!is_narrow(narrow)) return Decline{"its type is wide enough, or not known"};
  const auto dims = node.input(0)->type.static_dims();
  if (dims && element_count(*dims) == 0) return Decline{"the extreme of nothing is the type's own"};
  const Value* made = node.output(0);
  std::vector<Value*> inputs = node.inputs();
  inputs[0] = as(builder, inputs[0], DType::kI32);
  if (node.op.starts_with("Arg")) return Replacement{builder.op(node.op, inputs, node.attrs, made->type)};
  return Replacement{
      as(builder, builder.op(node.op, inputs, node.attrs, Type::tensor(DType::kI32, made->type.dims)), narrow)};
}

std::vector<Rule> rules() { return {{Pattern::op("ReduceMax|ReduceMin|ArgMax|ArgMin", {}).open(), rewrite}}; }

}  // namespace

const Pass wide_integers = {"wide_integers", "extremes of narrow integers by way of int32", rules};

}  // namespace mlopt::lower
