#include <fmt/core.h>

#include <memory>
#include <optional>

#include "cli/backends.h"
#include "cli/commands.h"
#include "cli/comparison.h"
#include "cli/data.h"
#include "cli/ranks.h"
#include "cli/runner.h"
#include "core/base/error.h"
#include "core/calib/score.h"
#include "core/data/spec.h"
#include "core/onnx/io.h"

namespace mlopt::cli {
namespace {

struct EvalOptions {
  std::string model;
  DataFlags data;
  ScoreOptions score;
  std::optional<int64_t> batch;
};

std::string metric_help() {
  std::string text = "what to measure: ";
  for (const MetricDef& metric : metrics()) text += fmt::format("{} ({}), ", metric.name, metric.doc);
  text.erase(text.size() - 2);
  return text;
}

void run(const EvalOptions& o, Session& session) {
  if (o.score.metric.empty()) usage_error("no metric was given", "--metric", "for example --metric top1");
  if (o.batch && *o.batch < 1) usage_error("a batch has at least one sample", "--batch");
  const Model model = read_model(o.model);
  const std::unique_ptr<Dataset> data = open_data(o.data, model, {.seed = session.common.seed});
  const std::unique_ptr<Backend> backend = open_backend(session.common.device);
  const std::unique_ptr<Executable> plan = make_preparing_runner(*backend, session.common).compile(model);

  Score score;
  {
    Progress progress = session.console.progress("samples", data->size());
    ScoreOptions options = o.score;
    options.batch = o.batch.value_or(0);
    share_scoring(*session.ranks, options);
    options.progress = [&](int64_t done) { progress.set(done); };
    with_data_hint(o.data, model, [&] { score = score_model(*plan, *data, options); });
  }
  Report& report = session.report;
  report.line(fmt::format("{}  {}  on {} samples, {}, {:.1f} s", score.metric, in_words(score), score.samples,
                          backend->name(), score.seconds));
  report.data["model"] = o.model;
  report.data["device"] = backend->name();
  report.data["data"] = print(parse_data_spec(o.data.spec));
  report.data["output"] = o.score.output.empty() ? plan->output_names()[0] : o.score.output;
  report.data["score"] = to_json(score);
  report.data["seconds"] = score.seconds;
  report.data["fallback_nodes"] = plan->fallback_nodes();
}

Action setup(Options& options) {
  const auto o = std::make_shared<EvalOptions>();
  options.positional("MODEL", o->model, "the model file; - is standard input");
  declare_data(options, o->data, "");
  options.add("--metric", o->score.metric, "M", metric_help()).choices = metric_names();
  options.add("--output", o->score.output, "NAME", "the output to score (default: the first)");
  options.add("--batch", o->batch, "N", "samples at a time, where the model leaves that open (default: 16)");
  return [o](Session& session) { run(*o, session); };
}

}  // namespace

Command eval_command() {
  return {.name = "eval",
          .arguments = "MODEL --data SPEC --metric M",
          .summary = "score a model on labelled data",
          .examples =
              {{{"eval resnet.onnx --data images:val/,resize=256,crop=224,mean=0.485/0.456/0.406,std=0.229/0.224/0.225 "
                 "--metric top1",
                 "accuracy on a folder of pictures, one folder for each class"},
                {"eval gpt.onnx --data bytes:book.txt,split=0.9:1 --metric ppl", "perplexity on the end of a text"}}},
          .setup = setup,
          .parallel = true};
}

}  // namespace mlopt::cli
