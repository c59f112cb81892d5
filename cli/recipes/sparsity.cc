#include "cli/recipes/sparsity.h"

#include <fmt/core.h>

#include <algorithm>
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

bool compares(const ResultGates& gates) { return gates.tolerance || gates.min_sqnr || gates.min_agreement; }

/// Judges what is tried as the ending of the command judges the result.
class Search {
 public:
  Search(const VerbOptions& verb, const Model& source, Session& session)
      : verb_(verb), source_(source), session_(session), gates_(verb.gates) {
    gates_.max_size.reset();  // the largest sparsity is also the smallest model
    if (gates_.max_drop) figures_.source_score = score_of(verb, source, session);
    if (compares(gates_)) cost_ = run_cost(source, {});
  }

  bool holds(double sparsity, const Model& made) {
    if (gates_.max_drop) figures_.result_score = score_of(verb_, made, session_);
    Verification verification;
    if (compares(gates_)) {
      Plans plans(source_, made, session_);
      verification = verify_result(verb_, source_, made, cost_, plans, session_);
    }
    figures_.comparison = verification.comparison ? &*verification.comparison : nullptr;
    const std::vector<Gate> judged = judge(gates_, figures_);
    const bool good = std::all_of(judged.begin(), judged.end(), [](const Gate& gate) { return gate.holds; });
    add(sparsity, judged, good);
    return good;
  }

  void report() {
    session_.report.data["search"] = std::move(tried_);
    session_.report.blocks.emplace_back(std::move(table_));
  }

 private:
  void add(double sparsity, const std::vector<Gate>& judged, bool good) {
    table_.columns = {"sparsity"};
    std::vector<std::string> row = {fmt::format("{:.2f} %", 100 * sparsity)};
    Json one = Json::object({{"sparsity", sparsity}}), gates = Json::array();
    for (const Gate& gate : judged) {
      const bool scored = gate.name == "max-drop";
      table_.columns.push_back(scored ? verb_.metric : gate.name);
      row.push_back(scored                   ? in_words(*figures_.result_score)
                    : gate.value.is_number() ? fmt::format("{:.4g}", gate.value.number())
                                             : "-");
      gates.push_back(Json::object({{"name", gate.name}, {"value", gate.value}, {"holds", gate.holds}}));
    }
    if (figures_.result_score) one["score"] = figures_.result_score->value;
    one["gates"] = std::move(gates);
    one["holds"] = good;
    tried_.push_back(std::move(one));
    table_.columns.emplace_back("holds");
    row.emplace_back(good ? "yes" : "no");
    table_.rows.push_back(std::move(row));
  }

  const VerbOptions& verb_;
  const Model& source_;
  Session& session_;
  ResultGates gates_;
  ResultFigures figures_;
  RunCost cost_;
  Table table_{"search", {}, {}, 1};
  Json tried_ = Json::array();
};

}  // namespace

void check_search(const VerbOptions& verb, bool alone) {
  if (!verb.gates.max_drop && !compares(verb.gates))
    usage_error("--sparsity auto searches by how far the result may be from the source", "--sparsity",
                "add --max-drop 1 --metric M --data SPEC, or --min-sqnr, --min-agreement or --tolerance");
  check_gates(verb.gates, verb.metric);
  if (!alone)
    usage_error("--sparsity auto does not search by what a training gives", "--recover", "give the sparsity it found");
}

double search_sparsity(const VerbOptions& verb, const Model& source, Session& session,
                       const std::function<Model(double)>& prune) {
  Search search(verb, source, session);
  Progress progress = session.console.progress("searching", kTries);
  double holds = 0, fails = 1;
  for (int i = 0; i < kTries; ++i) {
    const double sparsity = (holds + fails) / 2;
    (search.holds(sparsity, prune(sparsity)) ? holds : fails) = sparsity;
    progress.set(i + 1);
  }
  search.report();
  if (holds == 0) session.console.warn(fmt::format("the gates allow not even a sparsity of {:.2f} %", 100 * fails));
  return holds;
}

}  // namespace mlopt::cli
