#include "core/train/trainer.h"

#include <fmt/core.h>

#include <chrono>
#include <cmath>

#include "core/base/error.h"
#include "core/tensor/cast.h"
#include "core/train/nonfinite.h"

namespace mlopt::train {
namespace {

std::unique_ptr<Executable> compile(Backend& backend, CompileOptions options, const Model& model,
                                    const std::shared_ptr<StateStore>& state, const std::vector<StateUpdate>& updates) {
  options.state = state;
  options.updates = updates;
  return backend.compile(model, options);
}

/// The labels, if any, are the input behind the data.
FeedSettings feed_of(const TrainingGraphs& graphs, const LoopSettings& settings) {
  FeedSettings feed;
  feed.batch = settings.batch / settings.accumulate;
  feed.seed = settings.seed;
  if (!graphs.labels.empty()) feed.labels = graphs.gradients.graph->find(graphs.labels)->type;
  feed.classes = graphs.classes;
  feed.augmentation = settings.augmentation;
  return feed;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Datum scalar(double value) { return Tensor::scalar(static_cast<float>(value)); }

}  // namespace

Trainer::Trainer(const TrainingGraphs& graphs, const Dataset& data, Backend& backend, CompileOptions options,
                 const LoopSettings& settings, int64_t done, double slower)
    : graphs_(graphs),
      backend_(backend),
      options_(options),
      settings_(settings),
      gradients_(compile(backend, options, graphs.gradients, graphs.state, graphs.gradient_updates)),
      update_(compile(backend, options, graphs.update, graphs.state, graphs.parameter_updates)),
      feed_(data, feed_of(graphs, settings), done * settings.accumulate),
      done_(done),
      slower_(slower) {}

/// The loss of one portion, whose gradients are left in the state.
double Trainer::add_gradients(StepReport& report, int64_t portion) {
  auto start = std::chrono::steady_clock::now();
  std::vector<Datum> inputs = feed_.next();
  report.wait_s += seconds_since(start);
  if (settings_.accumulate > 1) inputs.push_back(scalar(portion == 0 ? 0 : 1));
  start = std::chrono::steady_clock::now();
  const std::vector<Datum> outputs = gradients_->run(inputs);
  report.compute_s += seconds_since(start);
  const auto loss = number_at(outputs.back().tensor(), 0);
  check(loss, inputs);
  return loss;
}

void Trainer::check(double loss, std::span<const Datum> inputs) const {
  if (std::isfinite(loss)) return;
  const std::string where = first_nonfinite(graphs_, inputs, backend_, options_);
  input_error(fmt::format("the loss is {}", loss),
              fmt::format("update {}{}", done_ + 1, where.empty() ? "" : ", first in " + where),
              "lower --lr, clip gradients (--clip 1), warm up (--warmup-steps), or look for such numbers in the data");
}

void Trainer::update(StepReport& report) {
  report.rate = settings_.schedule.at(done_) * slower_;
  const std::vector<Datum> inputs = {scalar(report.rate), scalar(static_cast<double>(report.step)),
                                     scalar(1.0 / static_cast<double>(settings_.accumulate))};
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Datum> outputs = update_->run(inputs);
  report.compute_s += seconds_since(start);
  if (!outputs.empty()) report.norm = number_at(outputs[0].tensor(), 0);
}

StepReport Trainer::step() {
  StepReport report;
  report.step = done_ + 1;
  for (int64_t portion = 0; portion < settings_.accumulate; ++portion)
    report.loss += add_gradients(report, portion) / static_cast<double>(settings_.accumulate);
  update(report);
  ++done_;
  return report;
}

}  // namespace mlopt::train
