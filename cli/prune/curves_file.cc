#include "cli/output.h"
#include "cli/prune/kept_file.h"
#include "cli/prune/sensitivity.h"
#include "core/base/file.h"

namespace mlopt::cli {
namespace {

/// What is measured: the method alone. What recovers takes its time for each point, and changes less which layers lose
/// least than how much they do.
prune::Spec measured(prune::Spec spec) {
  spec.threshold = spec.flops = spec.latency = spec.sparsity = std::nullopt;
  spec.allocation.clear();
  spec.round = std::nullopt;
  spec.fit = spec.statistics = false;
  spec.iterations = 1;
  return spec;
}

Json to_json(const std::vector<prune::Curve>& curves) {
  Json all = Json::array();
  for (const prune::Curve& curve : curves) {
    Json points = Json::array();
    for (const prune::CurvePoint& p : curve.points)
      points.push_back(
          Json::object({{"share", p.share}, {"loss", p.loss}, {"macs_saved", p.macs}, {"time_saved", p.time}}));
    all.push_back(Json::object({{"name", curve.name}, {"size", curve.size}, {"points", std::move(points)}}));
  }
  return all;
}

std::vector<prune::Curve> curves_of(const Json& json, const std::string& file) {
  std::vector<prune::Curve> curves;
  for (const Json& one : member(json, "curves", file).items()) {
    prune::Curve& curve = curves.emplace_back();
    curve.name = member(one, "name", file).string();
    curve.size = member(one, "size", file).number();
    for (const Json& p : member(one, "points", file).items())
      curve.points.push_back({member(p, "share", file).number(), member(p, "loss", file).number(),
                              member(p, "macs_saved", file).number(), member(p, "time_saved", file).number()});
  }
  return curves;
}

}  // namespace

std::vector<prune::Curve> curves_for(const std::string& file, const VerbOptions& verb, const prune::Spec& spec,
                                     const Model& source, const TryPruning& prune, Session& session) {
  const prune::Spec plain = measured(spec);
  Json key = key_of(verb, plain, source);
  if (const std::optional<Json> kept = kept_in(file, key)) return curves_of(*kept, file);
  if (!file.empty()) require_writable(file);
  if (verb.data.spec.empty() || verb.data.spec.starts_with("random"))
    session.console.warn(
        "what layers can spare is measured on random numbers; --data with real inputs tells it better");
  VerbOptions how = verb;
  how.no_bench = !spec.latency && spec.allocation != prune::kByLatency;
  Sensitivity sensitivity(how, plain, source, prune, session);
  sensitivity.measure();
  std::vector<prune::Curve> curves = sensitivity.curves();
  key["curves"] = to_json(curves);
  if (!file.empty()) write_text(file, key.dump() + "\n");
  return curves;
}

}  // namespace mlopt::cli
