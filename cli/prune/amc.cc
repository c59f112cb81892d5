#include "cli/prune/amc.h"

#include <fmt/core.h>

#include "cli/output.h"
#include "cli/prune/kept_file.h"
#include "core/base/file.h"
#include "core/data/metrics.h"

namespace mlopt::cli {
namespace {

Json to_json(const std::vector<prune::Episode>& episodes) {
  Json all = Json::array();
  for (const prune::Episode& e : episodes)
    all.push_back(Json::object({{"reward", e.reward}, {"left", e.left}, {"shares", e.shares}}));
  return all;
}

std::vector<prune::Episode> episodes_of(const Json& json, const std::string& file) {
  std::vector<prune::Episode> episodes;
  for (const Json& one : member(json, "episodes", file).items()) {
    prune::Episode& e = episodes.emplace_back();
    e.reward = member(one, "reward", file).number();
    e.left = member(one, "left", file).number();
    for (const Json& share : member(one, "shares", file).items()) e.shares.push_back(share.number());
  }
  return episodes;
}

VerbOptions untimed(VerbOptions verb) {
  verb.no_bench = true;
  return verb;
}

}  // namespace

AmcSearch::AmcSearch(const std::string& file, const VerbOptions& verb, const prune::Spec& spec, const Model& source,
                     Session& session)
    : verb_(untimed(verb)),
      key_(key_of(verb, spec, source)),
      trials_(verb_, source, session),
      progress_(session.console.progress("episodes", spec.episodes > 0 ? spec.episodes : prune::kUsualEpisodes)) {
  if (verb.data.spec.empty() || verb.data.spec.starts_with("random"))
    session.console.warn(
        "what results are worth is measured on random numbers; --data with real inputs tells it better");
  means_.reward = [this](const Model& made) { return reward(made); };
  if (const std::optional<Json> kept = kept_in(file, key_)) {
    means_.known = episodes_of(*kept, file);
    means_.known_from = file;
  }
  if (!file.empty()) require_writable(file);
  means_.keep = [this, file](const std::vector<prune::Episode>& episodes) { keep(file, episodes); };
}

double AmcSearch::reward(const Model& made) {
  const Trial trial = trials_.look_at(made);
  const double loss = loss_of(trial, trials_.source_score(), verb_.metric);
  constexpr double kWorst = 1e6;  // more than that, and NaN, would spread in the networks that learn from it
  if (!(loss < kWorst)) return trial.score ? -kWorst : -1;
  return trial.score ? -loss : -loss / (1 + loss);  // noise has no bound
}

void AmcSearch::keep(const std::string& file, const std::vector<prune::Episode>& episodes) {
  const prune::Episode& best = episodes[prune::best_of(episodes)];
  progress_.set(std::ssize(episodes), fmt::format("least lost {:.4g}", -best.reward));
  if (file.empty()) return;
  Json all = key_;
  all["episodes"] = to_json(episodes);
  write_text(file, all.dump() + "\n");
}

void report_episodes(const prune::Pruned& made, Report& report) {
  if (made.episodes.empty()) return;
  const std::vector<prune::Episode>& all = made.episodes;
  const size_t best = prune::best_of(all);
  report.line(
      fmt::format("amc: the best of {} episodes is number {}: {:.4g} lost, {:.4g} by the same share of every group",
                  all.size(), best + 1, -all[best].reward, -all.front().reward));
  Json& search = report.data["amc"] = Json::object({{"best", best}});
  search["episodes"] = to_json(all);
}

}  // namespace mlopt::cli
