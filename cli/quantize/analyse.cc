#include "cli/quantize/analyse.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "cli/comparison.h"
#include "cli/describe.h"
#include "cli/environment.h"
#include "cli/verb/trial.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt::cli {
namespace {

const std::vector<std::string> kWithData = {"w8a8", "w4a8"};
const std::vector<std::string> kUsual = {"w8a8-dynamic", "w8", "w6", "w4", "w4g32", "w3g32", "nf4", "fp16", "bf16"};

/// One format.
struct Row {
  std::string format, spec, problem;  ///< why there is nothing else; empty when there is
  Trial trial;
  bool small = false, quick = false;  ///< no other is as good and smaller, or as good and faster

  bool timed() const { return problem.empty() && trial.latency.left_out.empty(); }
};

class Analysis {
 public:
  Analysis(const VerbOptions& verb, const Model& source, const quantize::Means& means, Session& session)
      : verb_(verb), source_(source), means_(means), session_(session), trials_(verb, source, session) {}

  void add(const std::string& format, const std::function<quantize::Spec(const std::string&)>& spec_of) {
    Row& row = rows_.emplace_back();
    row.format = format;
    try {
      const quantize::Spec spec = spec_of(format);
      row.spec = quantize::to_string(spec);
      quantize::Quantized made = quantize::quantize(source_, spec, means_);
      if (made.layers == 0)
        row.problem = "no layer gains from it";
      else
        row.trial = trials_.look_at(made.model);
    } catch (const Error& e) {
      if (e.code == Code::kInternal) throw;
      row.problem = in_words(e);
    }
  }

  void report() {
    mark_fronts();
    if (std::none_of(rows_.begin(), rows_.end(), [](const Row& r) { return r.problem.empty(); }))
      unsupported_error("none of the formats fits the model: " + rows_.front().problem, verb_.model,
                        "choose others with --to");
    add_rows();
    add_data();
    add_chart(&Row::small, "size in KB", [](const Row& r) { return static_cast<double>(r.trial.bytes) / 1000; });
    add_chart(&Row::quick, "p50 latency in ms", [](const Row& r) {
      return r.timed() ? r.trial.latency.result.p50 : std::numeric_limits<double>::quiet_NaN();
    });
  }

 private:
  double quality_of(const Row& row) const { return trials_.quality(row.trial); }

  void mark_fronts() {
    const auto beaten = [&](const Row& a, const auto& cost, const auto& counts) {
      return std::any_of(rows_.begin(), rows_.end(), [&](const Row& b) {
        return counts(b) && cost(b) <= cost(a) && quality_of(b) >= quality_of(a) &&
               (cost(b) < cost(a) || quality_of(b) > quality_of(a));
      });
    };
    const auto sized = [](const Row& r) { return r.problem.empty(); };
    const auto timed = [](const Row& r) { return r.timed(); };
    for (Row& row : rows_) {
      row.small = sized(row) && !beaten(
                                    row, [](const Row& r) { return static_cast<double>(r.trial.bytes); }, sized);
      row.quick = timed(row) && !beaten(
                                    row, [](const Row& r) { return r.trial.latency.result.p50; }, timed);
    }
  }

  static std::string fronts(const Row& row) {
    return row.small && row.quick ? "size, speed" : row.small ? "size" : row.quick ? "speed" : "";
  }

  void add_rows() {
    const bool scored = trials_.source_score().has_value();
    std::vector<std::string> columns = {"format", "size", "of the source", "SQNR"};
    if (scored) columns.push_back(verb_.metric);
    columns.insert(columns.end(), {"speed", "best for"});
    Table& table = session_.report.table("formats", columns);
    std::vector<std::string> first = {"as it is", format_bytes(static_cast<double>(source_.file_bytes)), "100.0 %", ""};
    if (scored) first.push_back(in_words(*trials_.source_score()));
    first.insert(first.end(), {"", ""});
    table.rows.push_back(std::move(first));
    for (const Row& row : rows_) {
      if (!row.problem.empty()) continue;
      std::vector<std::string> cells = {
          row.format, format_bytes(static_cast<double>(row.trial.bytes)),
          fmt::format("{:.1f} %", 100 * static_cast<double>(row.trial.bytes) / static_cast<double>(source_.file_bytes)),
          row.trial.difference ? sqnr_words(*row.trial.difference) : "-"};
      if (scored) cells.push_back(in_words(*row.trial.score));
      cells.insert(cells.end(), {row.timed() ? mlopt::in_words(row.trial.latency.ratio) : "-", fronts(row)});
      table.rows.push_back(std::move(cells));
    }
    for (const Row& row : rows_)
      if (!row.problem.empty()) session_.report.line(fmt::format("{} is left out: {}", row.format, row.problem));
    session_.report.line("best for: no other format is as near to the source and smaller, or as near and faster");
  }

  void add_data() {
    Json& all = session_.report.data["analysis"] = Json::array();
    for (const Row& row : rows_) {
      Json one = Json::object({{"format", row.format}, {"spec", row.spec}});
      if (!row.problem.empty()) {
        one["problem"] = row.problem;
      } else {
        one["size_bytes"] = row.trial.bytes;
        if (row.trial.difference) one["sqnr_db"] = shown_sqnr(*row.trial.difference);
        if (row.trial.score) one["score"] = to_json(*row.trial.score);
        if (row.timed()) one["speedup"] = row.trial.latency.ratio.median;
        one["best_for_size"] = row.small;
        one["best_for_speed"] = row.quick;
      }
      all.push_back(std::move(one));
    }
    if (trials_.source_score()) session_.report.data["source_score"] = to_json(*trials_.source_score());
    session_.report.data["environment"] = environment_json(session_.common.threads);
  }

  /// A front of formats, from the least cost on, and those behind it.
  void add_chart(bool Row::*on, const std::string& x_name, const std::function<double(const Row&)>& x) {
    Chart::Line front{"best", {}}, others{"others", {}, false};
    for (const Row& row : rows_)
      if (row.problem.empty())
        (row.*on ? front : others)
            .points.push_back({x(row), row.trial.score ? row.trial.score->value : quality_of(row), row.format});
    std::sort(front.points.begin(), front.points.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
    session_.report.charts.push_back({trials_.quality_name() + " of formats by " + x_name, x_name, {front, others}});
  }

  const VerbOptions& verb_;
  const Model& source_;
  const quantize::Means& means_;
  Session& session_;
  Trials trials_;
  std::vector<Row> rows_;
};

}  // namespace

void analyse(const VerbOptions& verb, std::vector<std::string> formats, const Model& source,
             const quantize::Means& means, const std::function<quantize::Spec(const std::string&)>& spec_of,
             Session& session) {
  if (formats.empty()) {
    if (means.data && !means.generated) formats = kWithData;
    formats.insert(formats.end(), kUsual.begin(), kUsual.end());
  }
  Analysis analysis(verb, source, means, session);
  Progress progress = session.console.progress("formats", std::ssize(formats));
  for (size_t i = 0; i < formats.size(); ++i) {
    analysis.add(formats[i], spec_of);
    progress.set(static_cast<int64_t>(i) + 1);
  }
  analysis.report();
}

}  // namespace mlopt::cli
