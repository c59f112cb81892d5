// Softmax(Where(seen, scores, lowest) + mask) -> Softmax(scores + (Where(seen, 0, lowest) + mask)), which is one mask,
// as attention takes it: GPT-Neo's. The lowest number is so large that adding scores to it does not change it.
#include "core/rewrite/fusion/attention_site.h"
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/numbers.h"

namespace mlopt::fusion {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  constexpr double kLowest = -1e38;
  const Node& choice = *m.node("choice");
  for (const int kept : {1, 2}) {
    Value *scores = choice.input(kept), *low = choice.input(3 - kept);
    const auto number = number_in(low);
    if (!number || !scores_of(scores).q) continue;
    if (!(*number <= kLowest)) return Decline{"scores may change what hides them"};
    Value* zero = builder.constant("seen", cast(Tensor::scalar(0.0F), low->known_constant()->dtype()));
    std::vector<Value*> inputs = {choice.input(0), zero, low};
    if (kept == 2) std::swap(inputs[1], inputs[2]);
    Value* mask = builder.op("Add", {builder.op("Where", inputs), m.value("mask")});
    Value* sum = builder.op("Add", {scores, mask}, {}, m.node("sum")->output(0)->type);
    return Replacement{builder.op("Softmax", {sum}, m.root->attrs, m.root->output(0)->type)};
  }
  return Decline{};
}

std::vector<Rule> rules() {
  Pattern choice = Pattern::op("Where", {Pattern::any("seen"), Pattern::any("a"), Pattern::any("b")});
  Pattern sum = Pattern::op("Add", {std::move(choice).as("choice").single_use(), Pattern::any("mask")});
  return {{Pattern::op("Softmax", {std::move(sum).any_order().as("sum").single_use()}), rewrite}};
}

}  // namespace

const Pass fuse_hidden_scores = {"fuse_hidden_scores", "scores that are hidden before a mask is added, by the mask",
                                 rules};

}  // namespace mlopt::fusion
