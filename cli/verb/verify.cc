#include <fmt/core.h>

#include "cli/backends.h"
#include "cli/model_info.h"
#include "cli/runner.h"
#include "cli/verb/verb.h"

namespace mlopt::cli {
namespace {

constexpr double kSeconds = 10;     // of comparing, at most; one batch at least
constexpr double kMostMacs = 2e11;  // of one run: minutes on the reference backend
constexpr const char* kGenerated = "random:2";

RunComparison compare(const VerbOptions& verb, const DataFlags& flags, bool distinct, const Model& source,
                      const Model& result, const Session& session) {
  const auto data = open_data(flags, source, {.seed = session.common.seed, .distinct = distinct});
  const std::unique_ptr<Backend> backend = open_backend("reference");
  const Runner runner = make_runner(*backend, session.common);
  const std::unique_ptr<Executable> before = runner.compile(source), after = runner.compile(result);
  Progress progress = session.console.progress("verifying", std::min(verb.samples, data->size()));
  CompareOptions options;
  options.samples = verb.samples;
  options.seconds = kSeconds;
  options.batch = 2;
  options.progress = [&](int64_t done) { progress.set(done); };
  return compare_runs(*before, *after, *data, options);
}

}  // namespace

Verification verify_result(const VerbOptions& verb, const Model& source, const Model& result, const Session& session) {
  DataFlags flags = verb.data;
  const bool generated = flags.spec.empty() || flags.spec.rfind("random", 0) == 0;
  if (flags.spec.empty()) flags.spec = kGenerated;
  Verification found;
  found.data = flags.spec;
  const RunCost cost = run_cost(source, {});
  if (static_cast<double>(cost.macs) > kMostMacs) {
    found.problem = fmt::format("one run takes {:.0f} billion multiply-accumulates, too many for the reference backend",
                                static_cast<double>(cost.macs) * 1e-9);
    return found;
  }
  // Distinct sizes above 1 show more, but not every model runs with the free dimensions that it declares.
  for (const bool distinct : {true, false}) {
    try {
      found.comparison = compare(verb, flags, distinct, source, result, session);
      found.problem.clear();
      return found;
    } catch (const Error& e) {
      if (e.code != Code::kBadInput && e.code != Code::kUnsupported) throw;
      if (!generated && e.code == Code::kBadInput) throw;
      found.problem = e.message + (e.where.empty() ? "" : ": " + e.where);
      if (e.code == Code::kUnsupported) return found;
    }
  }
  return found;
}

}  // namespace mlopt::cli
