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

std::string share_words(double share) { return fmt::format("{:.3g} %", 100 * share); }

using Point = Sensitivity::Point;

class Analysis {
 public:
  Analysis(const VerbOptions& verb, const Sensitivity& found, Session& session)
      : verb_(verb), found_(found), trials_(found.trials()), session_(session), shrinks_(found.shrinks()) {}

  void report() {
    session_.report.line(fmt::format("each of {} {} alone; as it is: {}", found_.parts().size(),
                                     shrinks_ ? "groups" : "layers",
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
    add_chart();
  }

 private:
  void add_table(const std::string& title, const std::function<std::string(const Point&)>& cell) {
    std::vector<std::string> columns{shrinks_ ? "group" : "layer"};
    for (const double share : found_.shares()) columns.push_back(share_words(share));
    Table& table = session_.report.table(title, std::move(columns));
    for (size_t i = 0; i < found_.parts().size(); ++i) {
      std::vector<std::string> row{some_of(found_.parts()[i].layers)};
      for (size_t k = 0; k < found_.shares().size(); ++k) row.push_back(cell(found_.at(i, k)));
      table.rows.push_back(std::move(row));
    }
  }

  void add_data() {
    Json& all = session_.report.data["analysis"] = Json::array();
    for (size_t i = 0; i < found_.parts().size() * found_.shares().size(); ++i) {
      const Sensitivity::Part& part = found_.parts()[i / found_.shares().size()];
      const Point& p = found_.at(i / found_.shares().size(), i % found_.shares().size());
      Json one = Json::object({{"name", part.name}, {"layers", part.layers}, {"share", p.share}});
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

  void add_chart() {
    if (found_.shares().size() < 2) return;
    Chart chart{fmt::format("{} with one {} pruned", trials_.quality_name(), shrinks_ ? "group" : "layer"),
                "share removed",
                {}};
    for (size_t i = 0; i < found_.parts().size(); ++i) {
      Chart::Line line{some_of(found_.parts()[i].layers), {}};
      if (trials_.source_score()) line.points.push_back({0, trials_.source_score()->value});
      for (size_t k = 0; k < found_.shares().size(); ++k) {
        const Point& p = found_.at(i, k);
        line.points.push_back({p.share, p.trial.score ? p.trial.score->value : trials_.quality(p.trial)});
      }
      chart.lines.push_back(std::move(line));
    }
    session_.report.charts.push_back(std::move(chart));
  }

  const VerbOptions& verb_;
  const Sensitivity& found_;
  const Trials& trials_;
  Session& session_;
  bool shrinks_;
};

}  // namespace

void analyse_pruning(const VerbOptions& verb, const prune::Spec& spec, const Model& source, const TryPruning& prune,
                     Session& session) {
  Sensitivity found(verb, spec, source, prune, session);
  found.measure();
  Analysis(verb, found, session).report();
}

}  // namespace mlopt::cli
