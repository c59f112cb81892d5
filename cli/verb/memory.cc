#include <fmt/core.h>

#include <filesystem>

#include "cli/peak.h"
#include "cli/verb/verb.h"
#include "core/base/text.h"

namespace mlopt::cli {
namespace {

std::optional<int64_t> peak_of_file(const std::string& path, const VerbOptions& verb, const Common& common) {
  RunSetting setting{.model = path, .device = common.device, .data = verb.data};
  setting.threads = common.threads;
  setting.seed = common.seed;
  return peak_of_run(setting);
}

/// The model may be in no file yet, and what a run needs depends on the form of its file.
std::optional<int64_t> peak_of_draft(const Model& model, const VerbOptions& verb, const Common& common) {
  namespace fs = std::filesystem;
  std::error_code none;
  const bool to_file = verb.output != "-" && !fs::is_other(fs::status(verb.output, none));
  const Draft draft(model, to_file ? verb.output : (fs::temp_directory_path() / "mlopt.onnx").string(),
                    write_options(verb));
  return peak_of_file(draft.path(), verb, common);
}

}  // namespace

std::vector<Gate> judge_memory(const VerbOptions& verb, const Model& source, const Model& result,
                               const Session& session) {
  if (!verb.max_memory) return {};
  const std::optional<int64_t> needed = peak_of_draft(result, verb, session.common);
  std::optional<int64_t> before;
  if (verb.max_memory->percent)
    before = verb.model == "-" ? peak_of_draft(source, verb, session.common)
                               : peak_of_file(verb.model, verb, session.common);
  if (!needed || (verb.max_memory->percent && !before)) {
    return {{"max-memory", verb.max_memory->value, Json(), false, "the memory of a run could not be measured"}};
  }
  const int64_t limit = verb.max_memory->bytes(before.value_or(0));
  return {{"max-memory", limit, *needed, *needed <= limit,
           fmt::format("a run needs {}, the limit is {}", format_bytes(static_cast<double>(*needed)),
                       format_bytes(static_cast<double>(limit)))}};
}

}  // namespace mlopt::cli
