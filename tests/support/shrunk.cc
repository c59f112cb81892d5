#include "tests/support/shrunk.h"

#include "backends/reference/backend.h"
#include "core/ir/dump.h"
#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "graphopt/pipelines.h"
#include "prune/structure/prove.h"
#include "prune/structure/remove.h"
#include "prune/structure/score.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

namespace mlopt::test {

using namespace prune;

std::string Shrunk::shapes(const std::string& names) const {
  std::string all;
  for (const char c : names) {
    const Value* v = model.graph->find(std::string(1, c));
    all += (all.empty() ? "" : ", ") + std::string(1, c) + " " + (v ? to_string(v->constant->dims()) : "gone");
  }
  return all;
}

Shrunk shrink(const std::string& graph, int64_t opset, SplitBy split, Statistics statistics) {
  static const std::unique_ptr<Backend> backend = reference_backend();
  Model model = fixture(graph, opset);
  if (graph.find("com.microsoft") != std::string::npos) model.set_opset("com.microsoft", 1);
  graphopt::fuse(model, pass_context(), {{"constant_to_initializer"}, {}});
  infer(model, standard_types);
  const Relations all = relate_axes(model, split, statistics);
  Shrunk made{{}, find_groups(all), {}, {}};
  for (const PinnedGroup& p : made.groups.pinned) made.pinned += p.reason + "\n";
  INFO(made.pinned);
  const auto scores = score_channels(all, made.groups.groups, ChannelScore::kRandom, 3);
  const Removed removed = choose_uniform(scores, 0.5, {.multiple = 1});
  made.model = remove_channels(model, all, made.groups.groups, removed, standard_types);
  INFO(dump(*made.model.graph));
  REQUIRE(verify(made.model) == std::vector<std::string>{});
  for (const Value* v : made.model.graph->initializers()) CHECK_FALSE((v->uses.empty() && !v->is_output()));
  const Model masked = mask_channels(model, all, made.groups.groups, removed);
  made.difference = pruned_from_masked(masked, made.model, Runner{*backend, [](Model&) {}}, nullptr, 7);
  CHECK(made.difference.max_expected > 1e-3);
  CHECK(made.difference.max_abs <= 1e-5 * made.difference.max_expected);
  return made;
}

}  // namespace mlopt::test
