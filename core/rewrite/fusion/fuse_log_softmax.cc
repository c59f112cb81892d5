// Log(Softmax(x)) -> LogSoftmax(x), which does not take logarithms of what was rounded to zero.
#include "core/rewrite/fusion/passes.h"

namespace mlopt::fusion {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  return Replacement{builder.op("LogSoftmax", {m.value("x")}, m.node("softmax")->attrs, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Log", {Pattern::op("Softmax", {Pattern::any("x")}).as("softmax").single_use()}), rewrite}};
}

}  // namespace

const Pass fuse_log_softmax = {"fuse_log_softmax", "the logarithm of a softmax as one operator", rules};

}  // namespace mlopt::fusion
