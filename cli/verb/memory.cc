#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "cli/peak.h"
#include "cli/verb/verb.h"
#include "core/base/text.h"
#include "core/measure/stats.h"

namespace mlopt::cli {
namespace {

constexpr int kMoreRuns = 4;     // where one does not decide
constexpr double kNear = 0.125;  // of the limit: runs of the same model differ by some percent

std::optional<int64_t> peak_of_file(const std::string& path, const VerbOptions& verb, const Common& common) {
  RunSetting setting{.model = path, .device = common.device, .data = verb.data};
  setting.threads = common.threads;
  setting.seed = common.seed;
  return peak_of_run(setting);
}

/// What runs need as shares of the limit, and the limits: those of the source's runs beside them, if it is one of
/// these.
struct Peaks {
  std::vector<double> shares, limits;

  bool add(std::optional<int64_t> needed, std::optional<int64_t> limit) {
    if (!needed || !limit) return false;
    limits.push_back(static_cast<double>(std::max<int64_t>(1, *limit)));
    shares.push_back(static_cast<double>(*needed) / limits.back());
    return true;
  }
};

/// The model may be in no file yet, and what a run needs depends on the form of its file.
std::string draft_path(const VerbOptions& verb) {
  namespace fs = std::filesystem;
  std::error_code none;
  const bool to_file = verb.output != "-" && !fs::is_other(fs::status(verb.output, none));
  return to_file ? verb.output : (fs::temp_directory_path() / "mlopt.onnx").string();
}

Gate gate_of(const Peaks& peaks, uint64_t seed) {
  const double limit = median(peaks.limits);
  const Estimate share = bootstrap_median(peaks.shares, seed);
  const auto bytes = [&](double of_limit) { return format_bytes(of_limit * limit); };
  const bool holds = share.high <= 1, unclear = !holds && share.low <= 1;
  return {"max-memory", std::llround(limit), std::llround(share.median * limit), holds,
          fmt::format("a run needs {}, the limit is {}{}", bytes(share.median), bytes(1),
                      unclear ? fmt::format(": inconclusive ({} to {})", bytes(share.low), bytes(share.high)) : "")};
}

}  // namespace

std::vector<Gate> judge_memory(const VerbOptions& verb, const Model& source, const Model& result,
                               const Session& session) {
  if (!verb.max_memory) return {};
  const bool relative = verb.max_memory->percent;
  const Draft made(result, draft_path(verb), write_options(verb));
  std::optional<Draft> before;
  if (relative && verb.model == "-") before.emplace(source, draft_path(verb), write_options(verb));
  Peaks peaks;
  const auto run = [&] {
    std::optional<int64_t> limit =
        relative ? peak_of_file(before ? before->path() : verb.model, verb, session.common) : std::optional<int64_t>(0);
    if (limit) limit = verb.max_memory->bytes(*limit);
    return peaks.add(peak_of_file(made.path(), verb, session.common), limit);
  };
  bool measured = run();
  const bool near = measured && std::abs(peaks.shares[0] - 1) <= kNear;
  for (int i = 0; near && measured && i < kMoreRuns; ++i) measured = run();
  if (!measured)
    return {{"max-memory", verb.max_memory->value, Json(), false, "the memory of a run could not be measured"}};
  return {gate_of(peaks, session.common.seed)};
}

}  // namespace mlopt::cli
