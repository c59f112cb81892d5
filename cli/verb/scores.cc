#include "cli/backends.h"
#include "cli/runner.h"
#include "cli/verb/verb.h"

namespace mlopt::cli {

Scores score_both(const VerbOptions& verb, const Model& source, const Model& result, const Session& session) {
  const auto data = open_data(verb.data, source, {.seed = session.common.seed});
  const std::unique_ptr<Backend> backend = open_backend(session.common.device);
  const Runner runner = make_preparing_runner(*backend, session.common);
  Progress progress = session.console.progress(verb.metric, 2 * data->size());
  ScoreOptions options;
  options.metric = verb.metric;
  options.progress = [&](int64_t done) { progress.set(done); };
  Scores scores;
  scores.source = score_model(*runner.compile(source), *data, options);
  options.progress = [&](int64_t done) { progress.set(data->size() + done); };
  scores.result = score_model(*runner.compile(result), *data, options);
  return scores;
}

}  // namespace mlopt::cli
