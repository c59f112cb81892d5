#include "cli/verb/trial.h"

#include <algorithm>
#include <span>

#include "cli/comparison.h"
#include "cli/output.h"
#include "core/base/error.h"
#include "core/calib/compare_runs.h"
#include "core/data/metrics.h"
#include "core/train/communicator.h"

namespace mlopt::cli {

namespace {

constexpr double kSeconds = 10;  // of comparing one result
constexpr int64_t kBatch = 2;    // so that it shows where samples are mixed up

}  // namespace

/// The source, which gives again what it gave to the same batches.
class Trials::Remembered : public Executable {
 public:
  explicit Remembered(Executable& plan) : plan_(plan) {}
  void rewind() { next_ = 0; }

  std::vector<Datum> run(std::span<const Datum> inputs, const RunHooks&) override {
    if (next_ == kept_.size()) kept_.push_back(plan_.run(inputs));
    return kept_[next_++];
  }
  const std::vector<std::string>& input_names() const override { return plan_.input_names(); }
  const std::vector<std::string>& output_names() const override { return plan_.output_names(); }
  const std::vector<std::string>& fallback_nodes() const override { return plan_.fallback_nodes(); }
  std::vector<StepProfile> profile() const override { return {}; }

 private:
  Executable& plan_;
  std::vector<std::vector<Datum>> kept_;  // by batch
  size_t next_ = 0;
};

Trials::Trials(const VerbOptions& verb, const Model& source, const Session& session)
    : verb_(verb), source_(source), session_(session), plans_(source, source, session) {}
Trials::~Trials() = default;

/// The data, or generated inputs whose free dimensions differ or, where the model takes only one size, are 1.
void Trials::open_compared() {
  for (const bool distinct : {true, false}) {
    DataFlags flags = verb_.data;
    if (flags.spec.empty()) flags.spec = "random:2";
    try {
      compared_ = open_data(flags, source_, {.seed = session_.common.seed, .distinct = distinct});
      outputs_ = std::make_unique<Remembered>(plans_.source());
      batch_ = compared_->batch_size() > 0 ? compared_->batch_size()
               : distinct                  ? std::min(kBatch, compared_->size())
                                           : 1;
      outputs_->run(compared_->batch(0, batch_).inputs, {});
      outputs_ = std::make_unique<Remembered>(plans_.source());
      return;
    } catch (const Error& e) {
      if (e.code != Code::kBadInput && e.code != Code::kUnsupported) throw;
      outputs_ = nullptr;
    }
  }
}

std::optional<Difference> Trials::difference_of_result() {
  if (!compared_) open_compared();
  std::optional<Difference> furthest;
  if (!outputs_) return furthest;
  outputs_->rewind();
  try {
    const RunComparison found = compare_runs(*outputs_, plans_.result(), *compared_,
                                             {.samples = verb_.samples, .batch = batch_, .seconds = kSeconds});
    for (const OutputComparison& output : found.outputs)
      if (output.difference && (!furthest || shown_sqnr(*output.difference) < shown_sqnr(*furthest)))
        furthest = output.difference;
  } catch (const Error& e) {
    if (e.code != Code::kUnsupported) throw;
  }
  return furthest;
}

Trial Trials::look_at(const Model& made) {
  Trial trial;
  trial.bytes = written_size(made, "model.onnx");
  plans_.replace_result(made);
  trial.difference = difference_of_result();
  if (!verb_.metric.empty()) {
    if (!scored_) scored_ = open_data(verb_.data, source_, {.seed = session_.common.seed});
    ScoreOptions options;
    options.metric = verb_.metric;
    if (!source_score_) source_score_ = score_model(plans_.source(), *scored_, options);
    trial.score = score_model(plans_.result(), *scored_, options);
  }
  trial.latency = time_both(verb_, source_, made, plans_, session_);
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

void check_analysis(const VerbOptions& verb, const AnalysisFiles& files, Session& session) {
  if (session.ranks->size() > 1) usage_error("--analyse is the work of one process", {}, "start it without mpirun");
  if (verb.model.empty()) usage_error("no model is named", "MODEL");
  if (!verb.output.empty()) usage_error("an analysis writes no model", "--output", "leave one of --analyse and -o out");
  if (const std::string gate = first_gate(verb); !gate.empty())
    usage_error("an analysis has no result that gates could judge", gate, "leave it out, or write a model with -o");
  if (files.csv == "-") session.claim_stdout("--csv -");
  if (files.html == "-") session.claim_stdout("--html -");
}

void write_analysis(const AnalysisFiles& files, const Report& report) {
  if (!files.csv.empty()) write_text(files.csv, to_csv(report));
  if (!files.html.empty()) write_text(files.html, to_html(report));
}

}  // namespace mlopt::cli
