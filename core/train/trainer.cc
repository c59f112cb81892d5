#include "core/train/trainer.h"

#include <fmt/core.h>

#include <algorithm>
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

/// The graph of gradients with the loss in place of the model's outputs, which nobody looks at: a device need not keep
/// them, nor hand them out.
Model for_loss_alone(const TrainingGraphs& graphs) {
  Model model = clone(graphs.gradients);
  Graph& graph = *model.graph;
  std::vector<int> others;
  const auto outputs = graph.outputs();
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!find_update(graphs.gradient_updates, outputs[i]->name)) others.push_back(static_cast<int>(i));
  for (const int i : others) graph.set_output(i, outputs[static_cast<size_t>(others.back())]);
  return model;
}

/// The labels, if any, are the input behind the data, keys of dropouts that behind both.
FeedSettings feed_of(const TrainingGraphs& graphs, const LoopSettings& settings) {
  FeedSettings feed;
  feed.batch = settings.batch / settings.accumulate;
  feed.portions = settings.accumulate;
  feed.rank = settings.ranks->rank();
  feed.ranks = settings.ranks->size();
  feed.seed = settings.seed;
  if (!graphs.labels.empty()) feed.labels = graphs.gradients.graph->find(graphs.labels)->type;
  feed.classes = graphs.classes;
  feed.within_one = graphs.within_one;
  feed.dropout_keys = !graphs.dropouts.keys.empty();
  feed.augmentation = settings.augmentation;
  feed.fixed = graphs.fixed;
  return feed;
}

/// Random operators differ between ranks.
CompileOptions options_of(CompileOptions options, const LoopSettings& settings) {
  options.seed += static_cast<uint64_t>(settings.ranks->rank()) * 0x9e3779b97f4a7c15ULL;
  return options;
}

CompileOptions with_ranks(CompileOptions options, MeanOverRanks mean) {
  options.mean_over_ranks = std::move(mean);
  return options;
}

/// A host begins to send what it has early; the fixed cost of a sum over devices, some 20 microseconds, is small beside
/// that of 25 MB even over NVLink (DistributedDataParallel of PyTorch takes as much).
constexpr int64_t kHostBucket = 4 << 20, kDeviceBucket = 25 << 20;

int64_t bucket_of(const LoopSettings& settings, int64_t otherwise) {
  return settings.bucket_bytes > 0 ? settings.bucket_bytes : otherwise;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Datum scalar(double value) { return Tensor::scalar(static_cast<float>(value)); }

}  // namespace

Trainer::Trainer(const TrainingGraphs& graphs, const Dataset& data, Backend& backend, const CompileOptions& options,
                 const LoopSettings& settings, const Standing& from)
    : graphs_(graphs),
      backend_(backend),
      options_(options_of(options, settings)),
      settings_(settings),
      gradients_(compile(backend, with_ranks(options_, mean_over_ranks()), for_loss_alone(graphs), graphs.state,
                         graphs.gradient_updates)),
      update_(compile(backend, options_, graphs.update, graphs.state, graphs.parameter_updates)),
      data_(data),
      reducer_(*settings.ranks, *graphs.state, graphs.gradient_states, bucket_of(settings, kHostBucket),
               settings.compression),
      sums_(sums_of_gradients()),
      done_(from.steps),
      scale_(from.scale),
      slower_(from.slower) {
  rewind(from.steps);
}

std::shared_ptr<StateSums> Trainer::sums_of_gradients() const {
  if (!shares_gradients() || !sums_on_device()) return nullptr;
  return ranks().state_sums(graphs_.gradient_states, bucket_of(settings_, kDeviceBucket));
}

void Trainer::rewind(int64_t steps) {
  done_ = steps;
  scale_.skipped = std::min(scale_.skipped, steps);
  feed_.emplace(data_, feed_of(graphs_, settings_), steps * settings_.accumulate);
}

void Trainer::finish() {
  gradients_.reset();
  update_.reset();
  sums_.reset();
}

std::vector<Datum> Trainer::next_inputs() {
  std::vector<Datum> inputs = feed_->next();
  if (graphs_.scaled) inputs.push_back(scalar(scale_.value));
  if (settings_.accumulate > 1) inputs.push_back(scalar(1));
  return inputs;
}

/// The loss of one portion, whose gradients are left in the state.
double Trainer::add_gradients(StepReport& report, int64_t portion) {
  auto start = std::chrono::steady_clock::now();
  std::vector<Datum> inputs = feed_->next();
  report.wait_s += seconds_since(start);
  if (graphs_.scaled) inputs.push_back(scalar(scale_.value));
  if (settings_.accumulate > 1) inputs.push_back(scalar(portion == 0 ? 0 : 1));
  start = std::chrono::steady_clock::now();
  RunHooks hooks;
  const bool last = portion + 1 == settings_.accumulate;
  if (last) hooks.sums = sums_;
  if (sums_) sums_->done = false;
  if (shares_gradients() && !sums_on_device() && last)
    hooks.on_ready = [&](std::string_view output, const Datum& value) {
      if (const StateUpdate* update = find_update(graphs_.gradient_updates, output))
        reducer_.ready(update->state, value.tensor());
    };
  statistics_s_ = 0;
  const std::vector<Datum> outputs = gradients_->run(inputs, hooks);
  report.compute_s += seconds_since(start) - statistics_s_;
  report.reduce_s += statistics_s_;
  const auto loss = number_at(outputs.back().tensor(), 0);
  check(loss, inputs);
  if (graphs_.scaled) inputs_ = std::move(inputs);
  return loss;
}

void Trainer::check(double loss, std::span<const Datum> inputs) const {
  if (!std::isfinite(loss)) fail(fmt::format("the loss is {}", loss), inputs);
}

void Trainer::fail(const std::string& what, std::span<const Datum> inputs) const {
  const std::string where = first_nonfinite(graphs_, inputs, backend_, options_);
  input_error(what, fmt::format("update {}{}", done_ + 1, where.empty() ? "" : ", first in " + where),
              fmt::format("{}lower --lr, clip gradients (--clip 1), warm up (--warmup-steps), or look for such numbers "
                          "in the data",
                          graphs_.products.half > 0 ? "leave the product there in float32 (--keep-fp32 GLOB), " : ""));
}

/// Sums of the gradients over all ranks, where the device has not made them yet, and the mean of the losses. Are the
/// gradients `usable` on all of them?
bool Trainer::reduce(StepReport& report, bool usable) {
  if (!shares_gradients()) return usable;
  const auto start = std::chrono::steady_clock::now();
  float more[] = {static_cast<float>(report.loss), usable ? 0.0F : 1.0F};
  const auto numbers = std::span(more).first(graphs_.scaled ? 2 : 1);
  if (sums_on_device()) {
    all_reduce(ranks(), numbers);
    if (more[1] == 0 && !(sums_ && sums_->done)) ranks().add_up_state(*graphs_.state, graphs_.gradient_states);
  } else {
    reducer_.finish(numbers);
  }
  report.loss = more[0] / static_cast<double>(ranks().size());
  report.reduce_s += seconds_since(start);
  return more[1] == 0;
}

/// Of statistics of a batch, in the middle of the graphs; empty where each rank takes its own.
MeanOverRanks Trainer::mean_over_ranks() {
  if (!settings_.sync_batch_norm || ranks().size() == 1) return {};
  return [this](std::span<double> values) {
    const auto start = std::chrono::steady_clock::now();
    ranks().wait(ranks().begin_all_reduce(std::as_writable_bytes(values), DType::kF64));
    for (double& value : values) value /= ranks().size();
    statistics_s_ += seconds_since(start);
  };
}

void Trainer::synchronize() {
  if (ranks().size() == 1) return;
  std::vector<std::string> names = graphs_.statistics;
  if (settings_.local_steps > 1)
    for (const StateUpdate& update : graphs_.parameter_updates) names.push_back(update.state);
  average(names);
  if (settings_.local_steps > 1 && graphs_.scaled)  // which each changed by itself
    ranks().wait(ranks().begin_broadcast(std::as_writable_bytes(std::span(&scale_, 1))));
}

void Trainer::average(const std::vector<std::string>& names) {
  if (names.empty()) return;
  Reducer(ranks(), *graphs_.state, names, bucket_of(settings_, kHostBucket)).finish();
  for (const std::string& name : names) {
    std::vector<double> values = to_doubles(graphs_.state->at(name));
    for (double& value : values) value /= ranks().size();
    const Tensor& now = graphs_.state->at(name);
    graphs_.state->set(name, cast(Tensor::of<double>(now.dims(), values), now.dtype()));
  }
}

void Trainer::update(StepReport& report) {
  const int summed = shares_gradients() ? ranks().size() : 1;  // ranks whose gradients these are
  report.rate = settings_.schedule.at(done_) * slower_;
  const std::vector<Datum> inputs = {scalar(report.rate), scalar(static_cast<double>(report.step - scale_.skipped)),
                                     scalar(1.0 / static_cast<double>(settings_.accumulate * summed))};
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Datum> outputs = update_->run(inputs);
  report.compute_s += seconds_since(start);
  if (!outputs.empty()) report.norm = number_at(outputs[0].tensor(), 0);
}

/// As if there had been no such batch. What the gradients are must not be added to.
void Trainer::skip(StepReport& report) {
  if (!note_overflow(scale_)) fail("the gradients are not finite, even without a scale of the loss", inputs_);
  report.skipped = true;
  report.rate = settings_.schedule.at(done_) * slower_;
  for (const std::string& name : graphs_.gradient_states) {
    const Tensor& any = graphs_.state->on_host(name);
    graphs_.state->set(name, Tensor::zeros(any.dtype(), any.dims()));
  }
}

StepReport Trainer::step() {
  StepReport report;
  report.step = done_ + 1;
  if (graphs_.scaled) report.loss_scale = scale_.value;
  for (int64_t portion = 0; portion < settings_.accumulate; ++portion)
    report.loss += add_gradients(report, portion) / static_cast<double>(settings_.accumulate);
  if (reduce(report, !graphs_.scaled || all_finite(*graphs_.state, graphs_.gradient_states))) {
    update(report);
    if (graphs_.scaled) note_finite(scale_);
  } else {
    skip(report);
  }
  ++done_;
  if (ranks().size() > 1 && settings_.local_steps > 1 && done_ % settings_.local_steps == 0) {
    const auto start = std::chrono::steady_clock::now();
    synchronize();
    report.reduce_s += seconds_since(start);
  }
  return report;
}

}  // namespace mlopt::train
