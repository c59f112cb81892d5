#include "core/calib/observe.h"

#include <fmt/core.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/base/error.h"
#include "core/base/gemm.h"
#include "core/base/parallel.h"
#include "core/calib/features.h"
#include "core/calib/parts.h"
#include "core/data/spread.h"
#include "core/ir/view.h"

namespace mlopt {
namespace {

constexpr int64_t kTall = 384;  // rows of a product, of which what lies above the diagonal is for nothing

/// The weights that a value is multiplied by.
using Readers = std::map<std::string, std::vector<std::pair<size_t, const Node*>>>;

/// What tells weights apart that are multiplied by other numbers, or by the same in another order.
std::string features_key(const Weight& weight, size_t number) {
  const bool product = weight.op == "MatMul" || weight.op == "Gemm";
  if (!product || weight.groups != 1 || weight.kernel != 1) return std::to_string(number);
  std::string key = fmt::format("{} columns {}", weight.columns, weight.operand == 0);
  for (const Node* node : weight.readers)
    key += fmt::format(" {} {}", turns_data(weight, *node), node->input(data_operand(weight))->name);
  return key;
}

/// Adds a^T b to the sums, [columns, columns]; where both are one, only what is not above the diagonal.
void add_products(const Matrix& left, const Matrix& right, std::vector<float>& sums) {
  const int64_t columns = right.columns;
  const bool symmetric = &left == &right;
  for (int64_t first = 0; first < columns; first += kTall) {
    const int64_t count = std::min(kTall, columns - first), width = symmetric ? first + count : columns;
    gemm<float>(count, width, left.rows, transpose_of(left.values.data() + first, columns),
                rows_of(right.values.data(), columns), sums.data() + first * columns, columns, true);
  }
}

/// Above the diagonal what is below.
void mirror(std::vector<float>& sums, int64_t columns) {
  using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<Floats> matrix(sums.data(), columns, columns);
  for (int64_t first = 0; first < columns; first += kTall) {
    const int64_t count = std::min(kTall, columns - first);
    matrix.block(0, first, first, count) = matrix.block(first, 0, count, first).transpose();
    for (int64_t r = first; r < first + count; ++r)
      for (int64_t c = first; c < r; ++c) matrix(c, r) = matrix(r, c);
  }
}

/// see(), but for what is above the diagonal of products.
void add_rows(const Matrix& rows, int64_t group, Observed& observed, const Matrix* original) {
  double* squares = observed.squares.data() + group * rows.columns;
  for (int64_t r = 0; r < rows.rows; ++r) {
    const std::span<const float> row = rows.row(r);
    for (size_t c = 0; c < row.size(); ++c) squares[c] += static_cast<double>(row[c]) * row[c];
  }
  if (!observed.peaks.empty()) {
    float* peaks = observed.peaks.data() + group * rows.columns;
    for (int64_t r = 0; r < rows.rows; ++r)
      for (size_t c = 0; c < rows.width(); ++c) peaks[c] = std::max(peaks[c], std::fabs(rows.row(r)[c]));
  }
  if (group == 0) observed.rows += rows.rows;
  if (!observed.products.empty()) add_products(rows, rows, observed.products[static_cast<size_t>(group)].own());
  if (original && !observed.crossed.empty())
    add_products(*original, rows, observed.crossed[static_cast<size_t>(group)].own());
}

class Observer {
 public:
  Observer(std::span<const Weight> weights, const Watch& watch) : weights_(weights), watch_(watch) {
    std::map<std::string, size_t> known;
    for (size_t i = 0; i < weights.size(); ++i) {
      const Weight& w = weights[i];
      same_.push_back(known.emplace(features_key(w, i), i).first->second);
      Observed& o = found_.emplace_back();
      if (same_[i] != i) continue;
      for (const Node* node : w.readers) readers_[node->input(data_operand(w))->name].emplace_back(i, node);
      o.squares.resize(static_cast<size_t>(w.groups * w.columns));
      o.peaks.resize(o.squares.size());
      const auto none = [&] { return std::vector<float>(static_cast<size_t>(w.columns * w.columns)); };
      for (int64_t g = 0; g < w.groups; ++g) {
        if (watch.products) o.products.emplace_back(none());
        if (watch.original) o.crossed.emplace_back(none());
      }
    }
  }

  void run(const Model& model, const Looking& means, OnTheWay* way) {
    const auto data = spread(*means.data, means.samples);
    if (data->size() == 0) input_error("there is no sample to look at", "--data", "give data with at least one sample");
    if (part_starts(model, means.part_bytes).empty()) way = nullptr;  // quickly run anew, and nothing is held
    const OnTheWay start = way ? *way : OnTheWay();
    std::vector<std::string> names;
    for (const auto& [name, weights] : readers_) names.push_back(name);
    Course course(model, names, *means.runner, start.model);
    std::optional<Course> original;
    if (watch_.original) original.emplace(*watch_.original, names, *means.runner, start.original);
    Course* const beside = original ? &*original : nullptr;
    const int64_t front = way ? front_of(course, start.next) : 0;
    for (const int64_t end : ends_of(course, beside, means.part_bytes, front)) {
      const bool is_left = way && end <= front;
      run_part(course, beside, end, is_left || end < course.end(), *data, means);
      if (is_left) *way = {{}, course.reached(), beside ? beside->reached() : Reached()};
    }
  }

  std::vector<Observed> found() {
    for (size_t i = 0; i < found_.size(); ++i) {
      if (same_[i] != i)
        found_[i] = found_[same_[i]];
      else
        for (SharedSums& products : found_[i].products) mirror(products.own(), weights_[i].columns);
    }
    return std::move(found_);
  }

 private:
  /// The place of the first node that these constants change the results of.
  static int64_t front_of(const Course& course, std::span<const std::string> constants) {
    const Node* first = first_changed(course.rest(), constants);
    return first ? course.place_of(first->first_output()->name) : 0;
  }

  /// Places where parts end; `front` is one of them.
  static std::set<int64_t> ends_of(const Course& course, const Course* original, int64_t bytes, int64_t front) {
    const int64_t last = course.end();
    if (original && original->rest().graph->node_count() != course.rest().graph->node_count()) return {last};
    std::set<int64_t> ends = course.ends_of_parts(bytes);
    if (front > 0) ends.insert(std::min(last, front));
    return ends;
  }

  void run_part(Course& course, Course* original, int64_t end, bool goes_on, const Dataset& data,
                const Looking& means) {
    course.begin_part(end, goes_on);
    if (original) original->begin_part(end == course.end() ? original->end() : end, goes_on);
    const int64_t step = std::max<int64_t>(1, data.batch_size());
    for (int64_t first = 0; first + step <= data.size(); first += step) {
      const auto number = static_cast<size_t>(first / step);
      const auto batch = [&] { return data.batch(first, step); };
      if (original)
        original->run(number, batch,
                      [&](const std::string& name, const Datum& value) { originals_.insert_or_assign(name, value); });
      course.run(number, batch, [&](const std::string& name, const Datum& value) { look(name, value); });
      originals_.clear();
      require_finite(data, first);
      if (means.progress) means.progress("observing", first + step, data.size());
    }
    course.end_part();
    if (original) original->end_part();
  }

  void look(const std::string& name, const Datum& datum) {
    const auto at = readers_.find(name);
    if (at == readers_.end() || !datum.is_tensor()) return;
    const Tensor& value = datum.tensor();
    for (const auto& [i, node] : at->second) {
      std::vector<Matrix> before;
      if (watch_.original)
        each_features(weights_[i], *node, originals_.at(name).tensor(),
                      [&](int64_t, const Matrix& rows) { before.push_back(rows); });
      size_t next = 0;
      each_features(weights_[i], *node, value, [&, &into = found_[i]](int64_t group, const Matrix& rows) {
        add_rows(rows, group, into, before.empty() ? nullptr : &before.at(next++));
      });
    }
  }

  void require_finite(const Dataset& data, int64_t sample) const {
    for (size_t i = 0; i < found_.size(); ++i)
      for (const double x : found_[i].squares)
        if (!std::isfinite(x))
          input_error(
              fmt::format("what {} is given is not finite", weights_[i].layer), data.name_of(sample),
              "remove the sample, or where others are so too, leave the layer out: --skip " + weights_[i].layer);
  }

  std::span<const Weight> weights_;
  Watch watch_;
  std::vector<size_t> same_;                // the first weight that is multiplied by the same
  Readers readers_;                         // of these
  std::map<std::string, Datum> originals_;  // of the batch at hand
  std::vector<Observed> found_;
};

}  // namespace

void see(const Matrix& rows, int64_t group, Observed& observed, const Matrix* original) {
  add_rows(rows, group, observed, original);
  if (!observed.products.empty()) mirror(observed.products[static_cast<size_t>(group)].own(), rows.columns);
}

std::vector<Observed> observe(const Model& model, std::span<const Weight> weights, const Watch& watch,
                              const Looking& means, OnTheWay* way) {
  Observer observer(weights, watch);
  with_threads(means.runner->options.threads, [&] { observer.run(model, means, way); });
  return observer.found();
}

}  // namespace mlopt
