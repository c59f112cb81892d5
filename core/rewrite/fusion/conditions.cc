// Cast(a) Cast(b) -> Cast(And(a, b)), for two conditions.
#include "core/rewrite/fusion/passes.h"

namespace mlopt::fusion {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value *a = m.value("a"), *b = m.value("b");
  if (a->type.dtype != DType::kBool || b->type.dtype != DType::kBool) return Decline{"they are no conditions"};
  if (!m.root->input(0)->single_use() && !m.root->input(1)->single_use())
    return Decline{"both are used as numbers elsewhere"};
  if (builder.opset() < 7) return Decline{"its opset broadcasts in another way"};
  const Type& type = m.root->output(0)->type;
  if (!type.is_tensor() || type.dtype == DType::kUndefined) return Decline{"its type is not known"};
  Value* both = builder.op("And", {a, b});
  return Replacement{builder.op("Cast", {both}, {{"to", static_cast<int64_t>(type.dtype), ""}}, type)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Mul", {Pattern::op("Cast", {Pattern::any("a")}), Pattern::op("Cast", {Pattern::any("b")})}),
           rewrite}};
}

}  // namespace

const Pass conditions = {"fuse_conditions", "conditions that are multiplied as numbers, joined by And", rules};

}  // namespace mlopt::fusion
