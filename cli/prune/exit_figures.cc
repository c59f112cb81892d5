#include "cli/prune/exit_figures.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/data/metrics.h"

namespace mlopt::cli {
namespace {

constexpr int64_t kBatch = 16;
constexpr double kShown[] = {0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99};

/// The largest probability of each row of scores, in single precision as the model has it.
std::vector<double> confidences(const Tensor& scores) {
  const auto rows = static_cast<size_t>(scores.dim(0)), classes = static_cast<size_t>(scores.dim(1));
  const float* x = scores.data<float>();
  std::vector<double> found;
  for (size_t r = 0; r < rows; ++r, x += classes) {
    const float most = *std::max_element(x, x + classes);
    double sum = 0;
    for (size_t c = 0; c < classes; ++c) sum += std::exp(static_cast<double>(x[c] - most));
    found.push_back(1 / sum);
  }
  return found;
}

}  // namespace

ExitFigures::Point ExitFigures::at(double confidence) const {
  Point point;
  double right = 0, leaving = 0, right_of_leaving = 0;
  for (const Sample& s : samples) {
    const bool leaves = s.confidence >= confidence;
    leaving += leaves;
    right_of_leaving += leaves && s.exit_right;
    right += leaves ? s.exit_right : s.source_right;
  }
  const auto all = static_cast<double>(std::max<size_t>(1, samples.size()));
  point.leave = leaving / all;
  point.top1 = right / all;
  point.top1_of_leaving = leaving > 0 ? right_of_leaving / leaving : 0;
  point.macs = static_cast<double>(macs_exit) + (1 - point.leave) * static_cast<double>(macs_rest);
  return point;
}

double ExitFigures::source_top1() const {
  const auto right = std::count_if(samples.begin(), samples.end(), [](const Sample& s) { return s.source_right; });
  return static_cast<double>(right) / static_cast<double>(std::max<size_t>(1, samples.size()));
}

double ExitFigures::least_confidence(double drop) const {
  std::vector<Sample> order = samples;
  std::sort(order.begin(), order.end(), [](const Sample& a, const Sample& b) { return a.confidence > b.confidence; });
  const double allowed = drop * static_cast<double>(order.size()) + 1e-9;
  double lost = 0, least = 1;
  for (size_t i = 0; i < order.size(); ++i) {
    lost += static_cast<int>(order[i].source_right) - static_cast<int>(order[i].exit_right);
    const bool last_of_equals = i + 1 == order.size() || order[i + 1].confidence < order[i].confidence;
    if (last_of_equals && lost <= allowed) least = std::floor(order[i].confidence * 1e6) / 1e6;
  }
  return least;
}

ExitFigures look_at_exits(Executable& exit, Executable& source, const Dataset& data) {
  ExitFigures figures;
  const int64_t step = data.batch_size() > 0 ? data.batch_size() : kBatch;
  for (int64_t first = 0; first + step <= data.size() || (data.batch_size() == 0 && first < data.size());
       first += step) {
    const Batch batch = data.batch(first, std::min(step, data.size() - first));
    if (!batch.labels)
      input_error("an early exit is judged by labels", data.name_of(first), "give --data that has them");
    const Tensor scores = exit.run(batch.inputs).at(0).tensor(), whole = source.run(batch.inputs).at(0).tensor();
    const auto labels = class_labels(*batch.labels, data.name_of(first));
    const auto early = predicted_classes(scores, *batch.labels, data.name_of(first));
    const auto late = predicted_classes(whole, *batch.labels, data.name_of(first));
    const std::vector<double> sure = confidences(scores);
    for (size_t i = 0; i < labels.size(); ++i)
      figures.samples.push_back({sure[i], early[i] == labels[i], late[i] == labels[i]});
  }
  return figures;
}

void report_exit(const ExitFigures& figures, double confidence, Report& report) {
  const auto millions = [](double macs) { return fmt::format("{:.4g} M", macs / 1e6); };
  const auto percent = [](double share) { return fmt::format("{:.2f} %", 100 * share); };
  Table table{
      "by how sure the exit is", {"at least", "leave there", "right of these", "top1", "multiply-accumulates"}, {}};
  Json& all = report.data["exits"] = Json::array();
  std::vector<double> shown(std::begin(kShown), std::end(kShown));
  shown.insert(std::upper_bound(shown.begin(), shown.end(), confidence), confidence);
  for (const double c : shown) {
    const ExitFigures::Point p = figures.at(c);
    table.rows.push_back({fmt::format("{:.4g}{}", c, c == confidence ? " *" : ""), percent(p.leave),
                          percent(p.top1_of_leaving), percent(p.top1), millions(p.macs)});
    all.push_back(Json::object({{"confidence", c},
                                {"leave", p.leave},
                                {"top1_of_leaving", p.top1_of_leaving},
                                {"top1", p.top1},
                                {"macs_average", p.macs}}));
  }
  report.blocks.emplace_back(std::move(table));
  const ExitFigures::Point taken = figures.at(confidence);
  report.line(fmt::format("* is taken: of {} samples {} leave early; top1 {} -> {}", figures.samples.size(),
                          percent(taken.leave), percent(figures.source_top1()), percent(taken.top1)));
  report.line(
      fmt::format("multiply-accumulates of a sample: {} -> {} on average ({:.1f} % stay), {} of the exit itself",
                  millions(static_cast<double>(figures.macs_source)), millions(taken.macs),
                  100 * taken.macs / static_cast<double>(std::max<int64_t>(1, figures.macs_source)),
                  millions(static_cast<double>(figures.macs_exit + figures.macs_rest - figures.macs_source))));
}

}  // namespace mlopt::cli
