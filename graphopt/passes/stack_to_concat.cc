// Reshape(Concat(Unsqueeze(a), Unsqueeze(b))) that makes one axis of the new one and the next -> Concat(a, b) along the
// latter: how TensorFlow's stack joins the halves of rows.
#include "core/rewrite/axis_map.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node& concat = *m.node("concat");
  const auto &stacked = concat.output(0)->type.dims, &out = m.root->output(0)->type.dims;
  if (!stacked || !out || concat.inputs().size() < 2) return Decline{};
  const int64_t given = builder.view(concat).get_int("axis", 0), rank = std::ssize(*stacked);
  const auto axis = static_cast<size_t>(given < 0 ? given + rank : given);
  if (axis + 1 >= stacked->size()) return Decline{"it is stacked along the last axis"};
  std::vector<Value*> parts;
  for (const Value* v : concat.inputs()) {
    Value* part = before_axis(v, axis);
    if (!part) return Decline{"what it joins is no stack"};
    parts.push_back(part);
  }
  SymDims joined = *stacked;
  joined[axis + 1] = joined[axis] * joined[axis + 1];
  joined.erase(joined.begin() + static_cast<std::ptrdiff_t>(axis));
  const bool same = joined == *out;
  const auto target = same || without_ones(joined) != without_ones(*out) ? std::nullopt : reshape_target(joined, *out);
  if (!same && !target) return Decline{"it does not make one axis of the stacked one and the next"};
  const Type type = Type::tensor(m.root->output(0)->type.dtype, joined);
  Value* y = builder.op("Concat", std::move(parts), {{"axis", static_cast<int64_t>(axis), ""}}, type);
  return Replacement{same ? y : make_reshape(builder, y, *target, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  Pattern concat = Pattern::op("Concat", {}).open().as("concat").single_use();
  return {{Pattern::op("Reshape", {std::move(concat)}).open(), rewrite}};
}

}  // namespace

const Pass stack_to_concat = {"stack_to_concat", "join rows instead of stacking them and making one axis of two",
                              rules};

}  // namespace mlopt::graphopt
