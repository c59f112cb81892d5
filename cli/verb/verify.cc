#include <fmt/core.h>

#include <algorithm>

#include "cli/backends.h"
#include "cli/describe.h"
#include "cli/model_info.h"
#include "cli/runner.h"
#include "cli/verb/verb.h"
#include "core/base/text.h"

namespace mlopt::cli {
namespace {

constexpr double kMostMacs = 1e11;                         // of one run: some ten seconds on the reference backend
constexpr double kDataSeconds = 10;                        // of comparing, at most; one batch at least
constexpr double kGeneratedSeconds = 2;                    // the second generated batch says little that is new
constexpr int64_t kMostGeneratedBytes = int64_t{1} << 31;  // of a model that is run where nobody asked for it
// Of the values of a run at sizes of 1: with more, larger sizes are not tried where nobody asked for it.
constexpr int64_t kFewValueBytes = int64_t{1} << 28;
constexpr int64_t kBatch = 2;
constexpr const char* kJudge = "reference";
constexpr const char* kGenerated = "random:2";

bool generated(const DataFlags& flags) { return flags.spec.empty() || flags.spec.starts_with("random"); }

std::unique_ptr<Dataset> data_for(const VerbOptions& verb, bool distinct, const Model& source, const Session& session) {
  DataFlags flags = verb.data;
  if (flags.spec.empty()) flags.spec = kGenerated;
  return open_data(flags, source, {.seed = session.common.seed, .distinct = distinct});
}

/// On what the models are compared, and how many samples at once.
struct Trial {
  const VerbOptions& verb;
  const Session& session;
  const Dataset& data;
  int64_t batch;
};

/// The result on inputs that the source has run on.
class MustRun : public Executable {
 public:
  explicit MustRun(Executable& result) : result_(result) {}

  std::vector<Datum> run(std::span<const Datum> inputs, const RunHooks& hooks) override {
    try {
      return result_.run(inputs, hooks);
    } catch (const Error& e) {
      if (e.code == Code::kBadInput)
        result_is_broken("the result does not run where the source does: " + in_words(e), e.where);
      throw;
    }
  }
  const std::vector<std::string>& input_names() const override { return result_.input_names(); }
  const std::vector<std::string>& output_names() const override { return result_.output_names(); }
  const std::vector<std::string>& fallback_nodes() const override { return result_.fallback_nodes(); }
  std::vector<StepProfile> profile() const override { return result_.profile(); }

 private:
  Executable& result_;
};

RunComparison compare(const Trial& trial, Executable& source, Executable& result) {
  Progress progress = trial.session.console.progress("verifying", std::min(trial.verb.samples, trial.data.size()));
  CompareOptions options;
  options.samples = trial.verb.samples;
  options.seconds = generated(trial.verb.data) ? kGeneratedSeconds : kDataSeconds;
  options.batch = trial.batch;
  options.progress = [&](int64_t done) { progress.set(done); };
  MustRun checked(result);
  return compare_runs(source, checked, trial.data, options);
}

/// Source and result, compiled.
struct Pair {
  std::unique_ptr<Backend> backend;
  std::unique_ptr<Executable> source, result;
};

/// Both on the judge; nothing, and why, when it lacks an operator or would take too long.
std::optional<Pair> on_judge(const Trial& trial, const Model& source, const Model& result, const RunCost& cost,
                             std::string& problem) {
  if (static_cast<double>(cost.macs) > kMostMacs) {
    problem = fmt::format("one run takes {:.0f} billion multiply-accumulates, too many for the reference backend",
                          static_cast<double>(cost.macs) * 1e-9);
    return std::nullopt;
  }
  try {
    Pair pair{open_backend(kJudge), nullptr, nullptr};
    const Runner runner = make_runner(*pair.backend, trial.session.common);
    pair.source = runner.compile(source);
    pair.result = runner.compile(result);
    return pair;
  } catch (const Error& e) {
    if (e.code != Code::kUnsupported) throw;
    problem = in_words(e);
    return std::nullopt;
  }
}

/// On the judge or, where it cannot, on the device of the session.
void compare_anywhere(const Trial& trial, const Model& source, const Model& result, const RunCost& cost, Plans& plans,
                      Verification& found) {
  if (const auto judge = on_judge(trial, source, result, cost, found.problem)) {
    found.device = kJudge;
    found.comparison = compare(trial, *judge->source, *judge->result);
  } else if (plans.device() != kJudge) {
    found.device = plans.device();
    found.comparison = compare(trial, plans.source(), plans.result());
    found.problem.clear();
  }
}

}  // namespace

Verification verify_result(const VerbOptions& verb, const Model& source, const Model& result, const RunCost& cost,
                           Plans& plans, const Session& session) {
  Verification found;
  found.data = verb.data.spec.empty() ? kGenerated : verb.data.spec;
  found.problem = lack_of_memory(cost.activation_bytes, "the values of a run");
  if (found.problem.empty() && verb.data.spec.empty() && source.file_bytes > kMostGeneratedBytes)
    found.problem = fmt::format("{} are much to run on generated data; --data SPEC compares on yours, or on random:1",
                                format_bytes(static_cast<double>(source.file_bytes)));
  if (found.problem.empty() && verb.data.spec.empty() && cost.activation_bytes > kMostGeneratedValueBytes)
    found.problem = fmt::format(
        "the values of a run, {}, are much to make of generated data; --data SPEC compares on yours, or on random:1",
        format_bytes(static_cast<double>(cost.activation_bytes)));
  found.cannot_run = !found.problem.empty();
  if (found.cannot_run) return found;
  const bool few = !verb.data.spec.empty() || cost.activation_bytes <= kFewValueBytes;
  // Several samples at once and distinct sizes above 1 show more, but not every model runs with the free dimensions
  // that it declares.
  for (const bool distinct : {true, false}) {
    if (distinct && !few) continue;
    try {
      const auto data = data_for(verb, distinct, source, session);
      const Trial trial{verb, session, *data, distinct ? kBatch : 1};
      compare_anywhere(trial, source, result, cost, plans, found);
      if (found.comparison) require_same_shapes(*found.comparison, source, *data, trial.batch);
      return found;
    } catch (const Error& e) {
      if (e.code != Code::kBadInput && e.code != Code::kUnsupported) throw;
      if (!distinct && !generated(verb.data) && e.code == Code::kBadInput) throw;
      found.problem = in_words(e);
      found.cannot_run = e.code == Code::kUnsupported;
      if (found.cannot_run) return found;
    }
  }
  return found;
}

}  // namespace mlopt::cli
