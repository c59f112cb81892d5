// Cast(c) a + Cast(Not(c)) b -> Where(c, a, b), for a condition c: how Keras chooses between two values. The one that
// is not chosen no longer makes the sum NaN where it is infinite.
#include "core/rewrite/fusion/passes.h"

namespace mlopt::fusion {
namespace {

/// The condition that `v` is a number for.
Value* condition_of(const Value* v) {
  const Node* cast = producer_of(v, "Cast");
  return cast && cast->input(0)->type.dtype == DType::kBool ? cast->input(0) : nullptr;
}

/// Is a true exactly where b is not?
bool opposite(const Value* a, const Value* b) {
  const Node *x = producer_of(a, "Not"), *y = producer_of(b, "Not");
  return (x && x->input(0) == b) || (y && y->input(0) == a);
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node *left = m.node("left"), *right = m.node("right");
  if (!left->output(0)->single_use() && !right->output(0)->single_use())
    return Decline{"both products are used elsewhere too"};
  for (const int i : {0, 1})
    for (const int k : {0, 1}) {
      Value *c = condition_of(left->input(i)), *rest = condition_of(right->input(k));
      if (!c || !rest || !opposite(c, rest)) continue;
      if (!builder.has(9, m.root->output(0)->type.dtype, 16)) return Decline{"Where needs opset 9, of bfloat16 16"};
      Value *a = left->input(1 - i), *b = right->input(1 - k);
      // The condition under Not is the plain one.
      if (producer_of(c, "Not") && c->producer->input(0) == rest) c = rest, std::swap(a, b);
      return Replacement{builder.op("Where", {c, a, b}, {}, m.root->output(0)->type)};
    }
  return Decline{};
}

std::vector<Rule> rules() {
  const auto product = [](const char* a, const char* b) {
    return Pattern::op("Mul", {Pattern::any(a), Pattern::any(b)});
  };
  return {{Pattern::op("Add", {product("a", "b").as("left"), product("c", "d").as("right")}), rewrite}};
}

}  // namespace

const Pass fuse_where = {"fuse_where", "a value for a condition plus one for its opposite, as a choice", rules};

}  // namespace mlopt::fusion
