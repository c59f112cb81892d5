#include "cli/train/session.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "cli/ranks.h"
#include "cli/runner.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/metrics.h"
#include "core/train/residuals.h"

namespace mlopt::cli {
namespace {

constexpr int64_t kPlateau = 5;  // epochs without a better score after which the rate falls

std::string in_words(const Epoch& epoch) {
  return fmt::format("epoch {}: loss {:.4g}{}, {:.1f} s", epoch.number, epoch.loss,
                     epoch.score ? ", " + mlopt::in_words(*epoch.score) : "", epoch.seconds);
}

/// The log up to that update: those behind the checkpoint are made again.
std::string lines_before(int64_t step, const std::string& log) {
  if (!std::filesystem::is_regular_file(log)) return {};
  std::ifstream file(log);
  std::string lines, line;
  while (std::getline(file, line) && !file.eof()) {  // one without an end was being written
    const auto number = parse_int(line.substr(0, line.find(',')));
    if (!number || *number < step) lines += line + "\n";
  }
  return lines;
}

}  // namespace

Validation::Validation(const TrainOptions& o, const Model& model, Backend& backend, const Session& session,
                       std::function<void(Model&)> finish)
    : model_(model), finish_(std::move(finish)), runner_(make_preparing_runner(backend, session.common)) {
  if (o.val.empty() || o.verb.metric.empty()) return;
  DataFlags flags = o.verb.data;
  flags.spec = o.val;
  data_ = open_data(flags, model, {.seed = session.common.seed});
  options_.metric = o.verb.metric;
  share_scoring(*session.ranks, options_);
}

std::optional<Score> Validation::score(const train::TrainingGraphs& graphs) const {
  if (!data_) return std::nullopt;
  Model now = clone(model_);
  train::store_weights(now, graphs);
  if (finish_) finish_(now);
  return score_model(*runner_.compile(now), *data_, options_);
}

Training::Training(const TrainOptions& o, const train::TrainingGraphs& graphs, train::Trainer& trainer,
                   const Validation& val, const std::string& spec, Session& session)
    : o_(o), graphs_(graphs), trainer_(trainer), validation_(val), spec_(spec), session_(session) {
  if (!o.tensorboard.empty() && session.writes()) events_.emplace(o.tensorboard);
}

std::vector<Epoch> Training::run(int64_t steps, train::Best best) {
  steps_ = steps;
  best_ = std::move(best);
  mlopt::Progress progress = session_.console.progress("training", steps);
  session_.ranks->set_stop([this] { return interrupt_.came(); });
  std::vector<Epoch> epochs;
  try {
    epochs = run_epochs(progress);
  } catch (const train::Interrupted&) {
    end("the run was ended, or a rank of it");
  }
  session_.ranks->set_stop({});
  for (const auto& [name, value] : best_.weights) graphs_.state->set(name, value);
  if (!o_.html.empty()) report_curves(epochs);
  return epochs;
}

std::vector<Epoch> Training::run_epochs(mlopt::Progress& progress) {
  std::vector<Epoch> epochs;
  if (o_.patience && best_.epochs_since >= *o_.patience) return epochs;  // it had ended before
  const int64_t length = trainer_.steps_in_epoch();
  while (trainer_.done() < steps_ || goes_back()) {
    const int64_t until = (trainer_.done() / length + 1) * length;
    const int64_t number = epochs.empty() ? until / length : epochs.back().number + 1;
    epochs.push_back(run_epoch(std::min(steps_, until), progress));
    epochs.back().number = number;
    trainer_.synchronize();
    epochs.back().score = validation_.score(graphs_);
    session_.console.note(in_words(epochs.back()));
    if (events_ && epochs.back().score)
      events_->add("val/" + o_.verb.metric, trainer_.done(), epochs.back().score->value);
    const bool more = goes_on(epochs.back());
    if (!o_.checkpoint.empty()) save();
    if (interrupt_.came()) end("interrupted");
    if (!more) break;
  }
  return epochs;
}

/// Is what was trained to be trained again, from an earlier update on?
bool Training::goes_back() {
  const auto from = hooks_.after ? hooks_.after(graphs_) : std::nullopt;
  if (!from) return false;
  trainer_.rewind(*from);
  trainer_.slow_down(1 / trainer_.slower());
  return true;
}

/// How it goes: the last loss, speed, time left, and what was waiting for data and for other ranks.
std::string Training::pace(const Epoch& epoch, int64_t steps, const train::StepReport& done) const {
  const double each = epoch.seconds / static_cast<double>(steps);
  const auto left = static_cast<int64_t>(each * static_cast<double>(steps_ - done.step));
  const std::string ranks =
      session_.ranks->size() == 1 ? "" : fmt::format(", {:.0f} % for other ranks", 100 * epoch.reduce / epoch.seconds);
  return fmt::format("loss {:.4g}, {:.0f} samples/s, {}:{:02} left, {:.0f} % waiting for data{}", done.loss,
                     static_cast<double>(trainer_.batch()) / each, left / 60, left % 60,
                     100 * epoch.wait / epoch.seconds, ranks);
}

Epoch Training::run_epoch(int64_t end, mlopt::Progress& progress) {
  Epoch epoch;
  const int64_t begin = trainer_.done();
  while (trainer_.done() < end) {
    if (hooks_.before) hooks_.before(trainer_.done(), graphs_);
    const train::StepReport done = trainer_.step();
    ++made_;
    epoch.loss += done.loss / static_cast<double>(end - begin);
    epoch.seconds += done.compute_s + done.wait_s + done.reduce_s;
    epoch.wait += done.wait_s;
    epoch.reduce += done.reduce_s;
    after_step(done);
    progress.set(done.step, pace(epoch, done.step - begin, done));
  }
  return epoch;
}

bool Training::ends_epoch(int64_t step) const { return step == steps_ || step % trainer_.steps_in_epoch() == 0; }

void Training::after_step(const train::StepReport& done) {
  record(done);
  if (ends_epoch(done.step)) return;  // what its score decides belongs to the checkpoint
  if (interrupt_.came()) end("interrupted");
  if (o_.checkpoint.empty() || !o_.checkpoint_every || done.step % *o_.checkpoint_every != 0) return;
  trainer_.synchronize();
  save();
}

/// Other ranks may be gone: nothing is asked of them.
void Training::end(const std::string& why) {
  if (!o_.checkpoint.empty()) save();
  session_.console.warn(
      fmt::format("{}: stopped after update {}: {}", why, trainer_.done(),
                  o_.checkpoint.empty() ? "with --checkpoint DIR it could be resumed" : "go on with --resume"));
  interrupt_.pass_on();
}

/// Keeps the best weights, slows down on a plateau, and ends where patience does.
bool Training::goes_on(const Epoch& epoch) {
  if (!epoch.score) return true;
  const double value = epoch.score->value;
  const std::optional<double> best = best_.score;
  const bool better = !best || (find_metric(o_.verb.metric).higher_is_better ? value > *best : value < *best);
  best_.epochs_since = better ? 0 : best_.epochs_since + 1;
  if (better) best_.score = value;
  if (o_.schedule == "plateau" && best_.epochs_since > 0 && best_.epochs_since % kPlateau == 0) trainer_.slow_down(0.1);
  if (!o_.patience) return true;
  if (better) {
    best_.weights.clear();
    for (const std::string& name : train::results(graphs_)) best_.weights.emplace_back(name, graphs_.state->at(name));
  }
  return best_.epochs_since < *o_.patience;
}

void Training::record(const train::StepReport& done) {
  if (!session_.writes()) return;
  if (!o_.log.empty()) log_line(done);
  if (!o_.html.empty()) losses_.push_back({static_cast<double>(done.step), done.loss});
  if (!events_) return;
  events_->add("loss", done.step, done.loss);
  events_->add("learning rate", done.step, done.rate);
  if (graphs_.scaled) events_->add("loss scale", done.step, done.loss_scale);
  if (o_.clip && !done.skipped) events_->add("gradient norm", done.step, done.norm);
}

void Training::report_curves(const std::vector<Epoch>& epochs) const {
  std::vector<Chart::Point> scores;
  for (const Epoch& e : epochs)
    if (e.score) scores.push_back({static_cast<double>(e.number), e.score->value});
  session_.report.charts.push_back({"loss", "update", {{"loss", losses_}}});
  session_.report.charts.push_back(
      {o_.verb.metric + " on the validation data", "epoch", {{o_.verb.metric, std::move(scores)}}});
}

/// Readable while the training goes on.
void Training::log_line(const train::StepReport& done) {
  if (!log_.is_open()) {
    const std::string before = o_.resume ? lines_before(done.step, o_.log) : "";
    log_ = std::ofstream(o_.log, std::ios::trunc);
    log_ << before;
    if (before.empty())
      log_ << "step,loss,lr,grad_norm,compute_s,wait_s,reduce_s" << (graphs_.scaled ? ",loss_scale,skipped\n" : "\n");
  }
  const std::string norm = o_.clip && !done.skipped ? fmt::format("{:.7g}", done.norm) : "";
  log_ << fmt::format("{},{:.7g},{:.7g},{},{:.6f},{:.6f},{:.6f}", done.step, done.loss, done.rate, norm, done.compute_s,
                      done.wait_s, done.reduce_s);
  if (graphs_.scaled) log_ << fmt::format(",{:.0f},{}", done.loss_scale, done.skipped ? 1 : 0);
  log_ << std::endl;
  if (!log_) input_error("cannot write", o_.log, "is the disk full?");
}

void Training::save() {
  train::save_residuals(o_.checkpoint, trainer_.done(), *session_.ranks, trainer_.residuals());
  if (!session_.writes()) return;
  train::save_checkpoint(o_.checkpoint, graphs_,
                         {trainer_.done(), trainer_.slower(), spec_, trainer_.loss_scale(), best_});
}

Json report_epochs(const std::vector<Epoch>& epochs, const std::string& metric, Report& report) {
  std::vector<std::string> columns = {"epoch", "loss"};
  if (!metric.empty()) columns.push_back(metric);
  columns.insert(columns.end(), {"seconds", "waiting for data"});
  Table& table = report.table("epochs", std::move(columns));
  Json list = Json::array();
  for (const Epoch& e : epochs) {
    std::vector<std::string> cells = {std::to_string(e.number), fmt::format("{:.4g}", e.loss)};
    if (!metric.empty()) cells.push_back(e.score ? mlopt::in_words(*e.score) : "");
    cells.push_back(fmt::format("{:.1f}", e.seconds));
    cells.push_back(fmt::format("{:.0f} %", e.seconds > 0 ? 100 * e.wait / e.seconds : 0));
    table.rows.push_back(std::move(cells));
    Json row = Json::object({{"epoch", e.number},
                             {"loss", e.loss},
                             {"seconds", e.seconds},
                             {"wait_seconds", e.wait},
                             {"reduce_seconds", e.reduce}});
    if (e.score) row["score"] = e.score->value;
    list.push_back(std::move(row));
  }
  return list;
}

}  // namespace mlopt::cli
