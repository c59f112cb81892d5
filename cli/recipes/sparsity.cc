#include "cli/recipes/sparsity.h"

#include <fmt/core.h>

#include <memory>

#include "cli/backends.h"
#include "cli/runner.h"
#include "core/base/error.h"

namespace mlopt::cli {
namespace {

constexpr int kTries = 7;

Score score_of(const VerbOptions& verb, const Model& model, const Session& session) {
  const auto data = open_data(verb.data, model, {.seed = session.common.seed});
  const std::unique_ptr<Backend> backend = open_backend(session.common.device);
  ScoreOptions options;
  options.metric = verb.metric;
  return score_model(*make_runner(*backend, session.common).compile(model), *data, options);
}

}  // namespace

void check_search(const VerbOptions& verb, bool alone) {
  if (!verb.gates.max_drop)
    usage_error("--sparsity auto searches by how much the score may drop", "--max-drop",
                "add --max-drop 1 --metric M --data SPEC");
  if (!alone)
    usage_error("--sparsity auto does not search by what a training gives", "--recover", "give the sparsity it found");
}

double search_sparsity(const VerbOptions& verb, const Model& source, Session& session,
                       const std::function<Model(double)>& prune) {
  ResultGates gates;
  gates.max_drop = verb.gates.max_drop;
  ResultFigures figures;
  figures.source_score = score_of(verb, source, session);
  Table table{"search", {"sparsity", verb.metric, "holds"}, {}, 1};
  Json& tried = session.report.data["search"] = Json::array();
  Progress progress = session.console.progress("searching", kTries);
  double holds = 0, fails = 1;
  for (int i = 0; i < kTries; ++i) {
    const double sparsity = (holds + fails) / 2;
    figures.result_score = score_of(verb, prune(sparsity), session);
    const bool good = judge(gates, figures).at(0).holds;
    (good ? holds : fails) = sparsity;
    tried.push_back(Json::object({{"sparsity", sparsity}, {"score", figures.result_score->value}, {"holds", good}}));
    table.rows.push_back(
        {fmt::format("{:.2f} %", 100 * sparsity), in_words(*figures.result_score), good ? "yes" : "no"});
    progress.set(i + 1);
  }
  session.report.blocks.emplace_back(std::move(table));
  if (holds == 0)
    session.console.warn(fmt::format("even a sparsity of {:.2f} % costs more than --max-drop allows", 100 * fails));
  return holds;
}

}  // namespace mlopt::cli
