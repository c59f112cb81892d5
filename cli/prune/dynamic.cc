#include "cli/prune/dynamic.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/backends.h"
#include "cli/prune/exit_figures.h"
#include "cli/prune/tokens.h"
#include "cli/runner.h"
#include "cli/train/run.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/onnx/infer.h"
#include "prune/structure/tidy.h"

namespace mlopt::cli {
namespace {

constexpr double kUsualDrop = 1;  // points
constexpr const char* kUsualPlace = "50%";

class EarlyExit {
 public:
  EarlyExit(const PruneOptions& o, Session& session) : o_(o), session_(session), train_(o.distill.train) {
    train_.batch_norm = "frozen";  // what leads to the exit stays as it is
    train_.dropout = "off";
    wanted_ = prune::parse_share(o.exit_at.empty() ? kUsualPlace : o.exit_at, "--exit-at");
    if (!o.threshold.empty()) threshold_ = prune::parse_share(o.threshold, "--threshold");
  }

  void run() {
    TrainingSteps steps;
    steps.model = [this](const Model& source) { return begin(source); };
    steps.adapt = [this](TrainingPlan& plan) {
      plan.recipe.choice.only = weights_;
      plan.spec = fmt::format("dynamic:exit={} by {}", place_.value, plan.spec);
    };
    steps.finish = [this](Model& trained, VerbResult& result) { finish(trained, result); };
    run_training(train_, steps, session_);
  }

 private:
  int64_t macs(const Model& model) const { return prune::macs_of(model, standard_types); }

  Model begin(const Model& source) {
    source_ = clone(source);
    place_ = choose(prune::exit_places(source, standard_types));
    prune::ExitModel made = prune::with_exit_head(source, place_, standard_types, session_.common.seed);
    weights_ = std::move(made.weights);
    const auto share = static_cast<double>(place_.macs) / static_cast<double>(std::max<int64_t>(1, macs(source)));
    session_.report.line(
        fmt::format("the exit lies behind '{}', with {:.1f} % of the multiply-accumulates", place_.value, 100 * share));
    return std::move(made.model);
  }

  /// The one nearest to the share that was asked for.
  prune::ExitPlace choose(const std::vector<prune::ExitPlace>& places) const {
    if (places.empty())
      input_error("there is no place between layers that all behind it hangs on alone", o_.verb.model,
                  "an early exit needs one: skip connections over the whole model have none");
    const double target = wanted_ * static_cast<double>(macs(source_));
    const auto off = [&](const prune::ExitPlace& p) { return std::abs(static_cast<double>(p.macs) - target); };
    return *std::min_element(places.begin(), places.end(),
                             [&](const auto& a, const auto& b) { return off(a) < off(b); });
  }

  void finish(Model& trained, VerbResult& result) {
    ExitFigures figures = look(trained);
    figures.macs_source = macs(source_);
    figures.macs_exit = macs(trained);
    figures.macs_rest = macs(prune::behind(typed_source(), place_));
    const double drop = o_.verb.gates.max_drop ? o_.verb.gates.max_drop->value : kUsualDrop;
    const double confidence = threshold_ ? *threshold_ : figures.least_confidence(drop / 100);
    if (!threshold_ && figures.at(confidence).leave == 0)
      session_.console.warn("no sample leaves early without a greater loss than is allowed: the result is only slower");
    report_exit(figures, confidence, session_.report);
    result.changes["exit"] = place_.value;
    result.changes["confidence"] = confidence;
    result.changes["leave"] = figures.at(confidence).leave;
    result.changes["macs_before"] = figures.macs_source;
    result.changes["macs_average"] = figures.at(confidence).macs;
    trained = prune::with_exit(source_, trained, place_, confidence, standard_types);
  }

  Model typed_source() const {
    Model typed = clone(source_);
    infer(typed, standard_types);
    return typed;
  }

  /// What the exit and the source say of the data.
  ExitFigures look(const Model& trained) {
    DataFlags flags = o_.verb.data;
    if (!train_.val.empty()) flags.spec = train_.val;
    if (train_.val.empty() && !threshold_)
      session_.console.warn(
          "how sure the exit must be is chosen on the data that it was trained on; --val with others tells it better");
    const auto data = open_data(flags, source_, {.seed = session_.common.seed});
    const std::unique_ptr<Backend> backend = open_backend(session_.common.device);
    const Runner runner = make_runner(*backend, session_.common);
    return look_at_exits(*runner.compile(trained), *runner.compile(source_), *data);
  }

  const PruneOptions& o_;
  Session& session_;
  TrainOptions train_;
  double wanted_ = 0;
  std::optional<double> threshold_;
  Model source_;
  prune::ExitPlace place_;
  std::vector<std::string> weights_;
};

void check(const PruneOptions& o) {
  refuse_static_options(o, "an early exit");
  const std::pair<const char*, const std::string*> others[] = {{"--granularity", &o.granularity},
                                                               {"--sparsity", &o.sparsity},
                                                               {"--flops", &o.flops},
                                                               {"--tokens-at", &o.tokens_at}};
  for (const auto& [name, given] : others)
    if (!given->empty())
      usage_error("--method dynamic removes nothing from the model: an exit has no such option", name,
                  "leave it out, or give --granularity token");
  if (!o.verb.metric.empty() && o.verb.metric != "top1")
    usage_error("an early exit is judged by top1", "--metric", "leave it out, or give top1");
}

}  // namespace

void refuse_static_options(const PruneOptions& o, const std::string& what) {
  const std::pair<const char*, const std::string*> others[] = {
      {"--latency", &o.latency}, {"--round", &o.round},   {"--allocation", &o.allocation},
      {"--scale", &o.scale},     {"--norm", &o.norm},     {"--prune-schedule", &o.schedule},
      {"--penalty", &o.penalty}, {"--drop", &o.drop},     {"--recover", &o.recover},
      {"--curves", &o.curves},   {"--search", &o.search}, {"--csv", &o.csv}};
  for (const auto& [name, given] : others)
    if (!given->empty()) usage_error(what + " has no such option", name, "leave it out");
  if (o.analyse || o.explain)
    usage_error(what + " has nothing to tell of layers", o.analyse ? "--analyse" : "--explain", "leave it out");
  if (!o.only.empty() || !o.skip.empty())
    usage_error(what + " takes no layers", o.only.empty() ? "--skip" : "--only", "--exit-at or --tokens-at says where");
}

void prune_at_run_time(const PruneOptions& o, Session& session) {
  if (o.granularity == kToken) return prune_tokens_at_run_time(o, session);
  check(o);
  EarlyExit(o, session).run();
}

}  // namespace mlopt::cli
