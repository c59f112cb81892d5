// Softmax(scores + a + b), where several layers add the same a and b, -> Softmax(scores + (a + b)), which is added up
// once for all of them and is one mask, as attention takes it.
#include "core/rewrite/fusion/attention_site.h"
#include "core/rewrite/fusion/passes.h"

namespace mlopt::fusion {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node& inner = *m.node("inner");
  Value* mask = m.value("mask");
  for (const int i : {0, 1}) {
    Value *scores = inner.input(i), *other = inner.input(1 - i);
    if (!scores_of(scores).q) continue;
    if (mask->uses.size() < 2 || other->uses.size() < 2) return Decline{"no other scores have both added"};
    Value* sum = builder.op("Add", {scores, builder.op("Add", {other, mask})}, {}, m.node("sum")->output(0)->type);
    return Replacement{builder.op("Softmax", {sum}, m.root->attrs, m.root->output(0)->type)};
  }
  return Decline{};
}

std::vector<Rule> rules() {
  Pattern inner = Pattern::op("Add", {Pattern::any("a"), Pattern::any("b")}).as("inner").single_use();
  Pattern sum = Pattern::op("Add", {std::move(inner), Pattern::any("mask")}).any_order().as("sum").single_use();
  return {{Pattern::op("Softmax", {std::move(sum)}), rewrite}};
}

}  // namespace

const Pass fuse_shared_masks = {"fuse_shared_masks", "masks that are added to the scores of several layers as one",
                                rules};

}  // namespace mlopt::fusion
