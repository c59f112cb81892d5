#include "cli/prune/settled.h"

#include <fmt/core.h>

#include <filesystem>

#include "cli/output.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/report/json.h"
#include "core/train/checkpoint.h"

namespace mlopt::cli {
namespace {

std::string file_in(const std::string& folder) { return (std::filesystem::path(folder) / "pruning.json").string(); }

bool measured(const prune::Spec& spec) {
  return spec.latency || spec.round == prune::kAutoRound || prune::looks_at_results(spec);
}

}  // namespace

std::optional<prune::Spec> settled_before(const TrainOptions& o, const prune::Spec& asked) {
  const std::string file = file_in(o.checkpoint);
  std::error_code ignored;
  if (!o.resume || !measured(asked) || !std::filesystem::exists(file, ignored)) return std::nullopt;
  const Json kept = Json::parse(read_file(file), file);
  const Json *before = kept.find("asked"), *settled = kept.find("settled");
  if (!before || !settled)
    input_error("it does not say what a pruning came to", file, "name another --checkpoint, and begin anew");
  if (before->string() != prune::to_string(asked))
    input_error("the checkpoints are of another training", file,
                fmt::format("it began with {}; give the same options, or another --checkpoint", before->string()));
  prune::Spec spec = prune::parse_spec(settled->string());
  spec.seed = asked.seed;  // the text has it only where something is drawn
  return spec;
}

void keep_settled(const TrainOptions& o, const prune::Spec& asked, const std::string& settled) {
  if (o.checkpoint.empty() || !measured(asked)) return;
  train::open_checkpoints(o.checkpoint, o.resume);  // the channels of a schedule are counted before the training
  const Json all = Json::object({{"asked", prune::to_string(asked)}, {"settled", settled}});
  write_text(file_in(o.checkpoint), all.dump() + "\n");
}

}  // namespace mlopt::cli
