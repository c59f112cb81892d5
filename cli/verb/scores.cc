#include "cli/verb/verb.h"

namespace mlopt::cli {

Scores score_both(const VerbOptions& verb, const Model& source, Plans& plans, const Session& session) {
  const auto data = open_data(verb.data, source, {.seed = session.common.seed});
  Progress progress = session.console.progress(verb.metric, 2 * data->size());
  ScoreOptions options;
  options.metric = verb.metric;
  options.progress = [&](int64_t done) { progress.set(done); };
  Scores scores;
  scores.source = score_model(plans.source(), *data, options);
  options.progress = [&](int64_t done) { progress.set(data->size() + done); };
  scores.result = score_model(plans.result(), *data, options);
  return scores;
}

}  // namespace mlopt::cli
