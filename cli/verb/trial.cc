#include "cli/verb/trial.h"

#include "cli/comparison.h"
#include "cli/output.h"
#include "core/data/metrics.h"

namespace mlopt::cli {

Trials::Trials(const VerbOptions& verb, const Model& source, const Session& session)
    : verb_(verb), source_(source), session_(session), cost_(run_cost(source, {})) {}

Trial Trials::look_at(const Model& made) {
  Trial trial;
  trial.bytes = written_size(made, "model.onnx");
  Plans plans(source_, made, session_);
  const Verification found = verify_result(verb_, source_, made, cost_, plans, session_);
  if (found.comparison)
    for (const OutputComparison& output : found.comparison->outputs)
      if (output.difference && (!trial.difference || output.difference->sqnr_db < trial.difference->sqnr_db))
        trial.difference = output.difference;
  if (!verb_.metric.empty()) {
    const auto data = open_data(verb_.data, source_, {.seed = session_.common.seed});
    ScoreOptions options;
    options.metric = verb_.metric;
    if (!source_score_) source_score_ = score_model(plans.source(), *data, options);
    trial.score = score_model(plans.result(), *data, options);
  }
  trial.latency = time_both(verb_, source_, made, plans, session_);
  return trial;
}

double Trials::quality(const Trial& trial) const {
  if (trial.score) return find_metric(verb_.metric).higher_is_better ? trial.score->value : -trial.score->value;
  return trial.difference ? shown_sqnr(*trial.difference) : 0;
}

std::string Trials::words(const Trial& trial) const {
  if (trial.score) return in_words(*trial.score);
  return trial.difference ? sqnr_words(*trial.difference) : "-";
}

}  // namespace mlopt::cli
