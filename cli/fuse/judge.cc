#include "cli/fuse/judge.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "cli/describe.h"
#include "cli/runner.h"
#include "core/base/error.h"
#include "core/calib/compare_runs.h"
#include "core/ir/stored_weights.h"

namespace mlopt::cli {
namespace {

constexpr double kRelative = 1e-4, kAbsolute = 1e-5, kRoundedDb = 40;

bool rounds_to_integers(const Model& model) {
  const std::vector<Node*> nodes = all_nodes(*model.graph);
  return std::any_of(nodes.begin(), nodes.end(), [&](const Node* n) {
    return n->op.find("Quantize") != std::string::npos || rounds_rows(NodeView(*n, model.opset(n->domain)));
  });
}

bool is_close(const OutputComparison& output, bool rounds) {
  if (!output.difference) return false;
  const Difference& d = *output.difference;
  if (!d.same_nonfinite) return false;
  return d.max_abs <= kRelative * d.max_expected + kAbsolute || (rounds && d.sqnr_db >= kRoundedDb);
}

}  // namespace

PassJudge::PassJudge(const DataFlags& flags, const Model& source, Backend& judge, const Session& session)
    : session_(session), judge_(judge), rounds_(rounds_to_integers(source)) {
  constexpr const char* kGenerated = "random:2";
  try {
    source_ = make_runner(judge, session.common).compile(source);
  } catch (const Error& e) {
    if (e.code == Code::kInternal) throw;
    problem_ = in_words(e);
    return;
  }
  for (const bool distinct : {true, false}) {
    try {
      DataFlags with = flags;
      if (with.spec.empty()) with.spec = kGenerated;
      auto data = open_data(with, source, {.seed = session.common.seed, .distinct = distinct});
      source_->run(data->batch(0, 1).inputs);
      data_.push_back(std::move(data));
    } catch (const Error& e) {
      if (e.code == Code::kInternal) throw;
      problem_ = in_words(e);
    }
  }
}

std::string PassJudge::objection(const Model& result) {
  if (data_.empty()) return {};
  ++compared_;
  try {
    const auto plan = make_runner(judge_, session_.common).compile(result);
    CompareOptions options;
    options.samples = 2;
    options.batch = 1;
    for (const auto& data : data_) {
      for (const OutputComparison& output : compare_runs(*source_, *plan, *data, options).outputs) {
        if (output.equal() || is_close(output, rounds_)) continue;
        if (!output.difference) return fmt::format("output '{}': {}", output.name, output.problem);
        return fmt::format("output '{}' differs by {:.3g} where values reach {:.3g}", output.name,
                           output.difference->max_abs, output.difference->max_expected);
      }
    }
  } catch (const Error& e) {
    return "the result does not run: " + in_words(e);
  }
  return {};
}

bool PassJudge::breaks(const Pass& pass, const Model& before, const PassContext& context,
                       const std::set<std::string>& nodes) {
  PassContext narrow = context;
  narrow.among = &nodes;
  Model model = clone(before);
  try {
    return run_pass(model, pass, narrow).applied > 0 && !objection(model).empty();
  } catch (const Error& e) {
    if (e.code != Code::kInternal) throw;
    return true;
  }
}

/// The first node of which it holds that the pass breaks the model when it may change that node and those before it.
std::string PassJudge::node_of(const Pass& pass, const Model& before, const PassContext& context) {
  std::vector<std::string> called;
  for (const Node* node : all_nodes(*before.graph))
    if (context.allows(*node)) called.push_back(node->called());
  const auto breaks_by = [&](size_t count) {
    return breaks(pass, before, context, {called.begin(), called.begin() + static_cast<ptrdiff_t>(count)});
  };
  size_t good = 0, bad = called.size();
  if (bad == 0 || !breaks_by(bad)) return {};
  while (good + 1 < bad) {
    const size_t middle = good + (bad - good) / 2;
    (breaks_by(middle) ? bad : good) = middle;
  }
  return called[bad - 1];
}

bool PassJudge::holds(const Pass& pass, const Model& before, const Model* after, const PassContext& context) {
  const std::string why = after ? objection(*after) : "it broke the graph";
  if (why.empty()) return true;
  broken_.push_back({std::string(pass.name), node_of(pass, before, context), why});
  session_.console.warn(fmt::format("{} was undone: {}", pass.name, why));
  return false;
}

void PassJudge::report_on(Report& report, VerbResult& result) const {
  if (data_.empty()) {
    result.not_verified.push_back("single passes: " + problem_);
    return;
  }
  Json& list = report.data["undone"] = Json::array();
  Table table{"passes that were undone", {"pass", "node", "because"}, {}, 3};
  for (const Broken& b : broken_) {
    table.rows.push_back({b.pass, b.node.empty() ? "-" : b.node, b.why});
    list.push_back(
        Json::object({{"pass", b.pass}, {"node", b.node.empty() ? Json() : Json(b.node)}, {"reason", b.why}}));
  }
  if (compared_ == 0) return;
  report.line(fmt::format("compared with the source {} times: {}", compared_,
                          broken_.empty()
                              ? "every pass keeps the outputs"
                              : fmt::format("{} broke them", broken_.size() == 1 ? "one pass" : "several passes")));
  if (!table.rows.empty()) report.blocks.emplace_back(std::move(table));
}

}  // namespace mlopt::cli
