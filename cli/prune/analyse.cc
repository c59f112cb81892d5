#include "cli/prune/analyse.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "cli/comparison.h"
#include "cli/environment.h"
#include "cli/prune/groups.h"
#include "cli/verb/trial.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt::cli {
namespace {

constexpr double kShares[] = {0.25, 0.5, 0.75, 0.9};

/// What is pruned alone: a layer, or the layers whose channels are coupled.
struct Part {
  std::vector<std::string> layers;
  std::string name() const { return some_of(layers); }
};

/// One part, pruned by one share.
struct Point {
  double share = 0;
  Trial trial;
  int64_t macs = 0, bytes = 0;  ///< saved
  double ms = 0;                ///< saved of a run; NaN: not measured
};

std::string share_words(double share) { return fmt::format("{:.3g} %", 100 * share); }

class Analysis {
 public:
  Analysis(const VerbOptions& verb, prune::Spec spec, const Model& source,
           const std::function<prune::Pruned(const prune::Spec&)>& prune, Session& session)
      : verb_(verb),
        spec_(std::move(spec)),
        source_(source),
        prune_(prune),
        session_(session),
        shrinks_(spec_.granularity.kind() == prune::Kind::kStructure),
        trials_(verb_, source, session) {
    if (!shrinks_) verb_.no_bench = true;  // zeros are not skipped by anything that multiplies
    spec_.threshold = spec_.flops = std::nullopt;
    spec_.allocation = "uniform";
  }

  void run() {
    find_parts();
    Progress progress = session_.console.progress("sensitivity", std::ssize(parts_) * std::ssize(shares()));
    for (const Part& part : parts_)
      for (const double share : shares()) {
        points_.push_back(point(part, share));
        progress.set(std::ssize(points_));
      }
  }

  void report() {
    session_.report.line(fmt::format("each of {} {} alone; as it is: {}", parts_.size(), shrinks_ ? "groups" : "layers",
                                     trials_.source_score() ? in_words(*trials_.source_score()) : "equal"));
    add_table(verb_.metric.empty() ? "SQNR" : verb_.metric, [&](const Point& p) {
      const std::string words = trials_.words(p.trial);
      return words.substr(0, words.find(" ("));  // without the counts
    });
    if (shrinks_) {
      add_table("million multiply-accumulates saved",
                [](const Point& p) { return fmt::format("{:.4g}", static_cast<double>(p.macs) / 1e6); });
      add_table("bytes saved", [](const Point& p) { return format_bytes(static_cast<double>(p.bytes)); });
      add_table("time saved",
                [](const Point& p) { return std::isfinite(p.ms) ? fmt::format("{:.4f} ms", p.ms) : "-"; });
    }
    add_data();
    add_charts();
  }

 private:
  std::span<const double> shares() const {
    if (spec_.granularity.pattern()) return {&pattern_share_, 1};
    return kShares;
  }

  /// As the whole model's pruning finds them.
  void find_parts() {
    prune::Spec whole = spec_;
    whole.fit = whole.statistics = false;
    if (!whole.granularity.pattern()) whole.sparsity = kShares[1];
    const prune::Pruned made = prune_(whole);
    for (const prune::PrunedGroup& group : made.groups)
      if (group.kept < group.channels) parts_.push_back({group.layers});
    for (const prune::PrunedLayer& layer : made.layers) parts_.push_back({{layer.layer}});
    if (parts_.empty()) unsupported_error("nothing of the model can be pruned so", verb_.model, "see --explain");
    const auto& g = spec_.granularity;
    if (g.pattern()) pattern_share_ = 1 - static_cast<double>(g.keep) / static_cast<double>(g.of);
  }

  Point point(const Part& part, double share) {
    prune::Spec spec = spec_;
    if (!spec.granularity.pattern()) spec.sparsity = share;
    spec.only = part.layers;
    const prune::Pruned made = prune_(spec);
    Point p{share, trials_.look_at(made.model), made.macs_before - made.macs_after, 0, NAN};
    p.bytes = source_.file_bytes - p.trial.bytes;
    const SideBySide& time = p.trial.latency;
    if (time.left_out.empty()) p.ms = time.source.p50 * (1 - 1 / time.ratio.median);
    return p;
  }

  void add_table(const std::string& title, const std::function<std::string(const Point&)>& cell) {
    std::vector<std::string> columns{shrinks_ ? "group" : "layer"};
    for (const double share : shares()) columns.push_back(share_words(share));
    Table& table = session_.report.table(title, std::move(columns));
    auto p = points_.begin();
    for (const Part& part : parts_) {
      std::vector<std::string> row{part.name()};
      for (size_t i = 0; i < shares().size(); ++i) row.push_back(cell(*p++));
      table.rows.push_back(std::move(row));
    }
  }

  void add_data() {
    Json& all = session_.report.data["analysis"] = Json::array();
    for (size_t i = 0; i < points_.size(); ++i) {
      const Point& p = points_[i];
      Json layers = Json::array();
      for (const std::string& layer : parts_[i / shares().size()].layers) layers.push_back(layer);
      Json one = Json::object({{"layers", std::move(layers)}, {"share", p.share}});
      if (p.trial.score) one["score"] = to_json(*p.trial.score);
      if (p.trial.difference) one["sqnr_db"] = shown_sqnr(*p.trial.difference);
      if (shrinks_) {
        one["macs_saved"] = p.macs;
        one["bytes_saved"] = p.bytes;
        one["ms_saved"] = std::isfinite(p.ms) ? Json(p.ms) : Json();
      }
      all.push_back(std::move(one));
    }
    if (trials_.source_score()) session_.report.data["source_score"] = to_json(*trials_.source_score());
    session_.report.data["environment"] = environment_json(session_.common.threads);
  }

  void add_charts() {
    if (shares().size() < 2) return;
    for (size_t i = 0; i < parts_.size(); ++i) {
      Chart chart{trials_.quality_name() + " of " + parts_[i].name(), "share removed", {}};
      if (trials_.source_score()) chart.points.emplace_back(0, trials_.source_score()->value);
      for (size_t k = 0; k < shares().size(); ++k) {
        const Point& p = points_[i * shares().size() + k];
        chart.points.emplace_back(p.share, p.trial.score ? p.trial.score->value : trials_.quality(p.trial));
      }
      session_.report.charts.push_back(std::move(chart));
    }
  }

  VerbOptions verb_;
  prune::Spec spec_;
  const Model& source_;
  const std::function<prune::Pruned(const prune::Spec&)>& prune_;
  Session& session_;
  bool shrinks_;
  double pattern_share_ = 0;
  Trials trials_;
  std::vector<Part> parts_;
  std::vector<Point> points_;  ///< of each part, by share
};

}  // namespace

void analyse_pruning(const VerbOptions& verb, const prune::Spec& spec, const Model& source,
                     const std::function<prune::Pruned(const prune::Spec&)>& prune, Session& session) {
  Analysis analysis(verb, spec, source, prune, session);
  analysis.run();
  analysis.report();
}

}  // namespace mlopt::cli
