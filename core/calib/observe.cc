#include "core/calib/observe.h"

#include <fmt/core.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/calib/features.h"
#include "core/data/spread.h"
#include "core/rewrite/end_with.h"

namespace mlopt {
namespace {

constexpr int64_t kBlock = 64;  // columns whose products one thread adds up at once

/// The weights that a value is multiplied by.
using Readers = std::map<std::string, std::vector<std::pair<size_t, const Node*>>>;

Readers readers_of(std::span<const Weight> weights) {
  Readers readers;
  for (size_t i = 0; i < weights.size(); ++i)
    for (const Node* node : weights[i].readers)
      readers[node->input(data_operand(weights[i]))->name].emplace_back(i, node);
  return readers;
}

/// A plan that gives what is computed for the readers.
class Watched {
 public:
  using Look = std::function<void(const std::string& name, const Tensor& value)>;

  Watched(const Model& model, const Readers& readers, const Runner& runner, Look look) : look_(std::move(look)) {
    CompileOptions options = runner.options;
    for (const auto& [name, weights] : readers)
      if (model.graph->find(name)->producer) options.taps.push_back(name);
    Model part = clone(model);
    if (!options.taps.empty()) end_with(part, options.taps);
    plan_ = runner.backend.compile(part, options);
  }

  void run(const Batch& batch) {
    for (size_t i = 0; i < batch.inputs.size(); ++i) look(plan_->input_names().at(i), batch.inputs[i]);
    RunHooks hooks;
    hooks.on_tap = [&](std::string_view name, const Datum& value) { look(std::string(name), value); };
    plan_->run(batch.inputs, hooks);
  }

 private:
  void look(const std::string& name, const Datum& value) const {
    if (value.is_tensor()) look_(name, value.tensor());
  }

  Look look_;
  std::unique_ptr<Executable> plan_;
};

/// Adds a^T b to the sums, [columns, columns]; where both are one, half of it is computed.
void add_products(const Matrix& left, const Matrix& right, std::vector<float>& sums) {
  using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const int64_t columns = right.columns;
  const Eigen::Map<const Floats> a(left.values.data(), left.rows, columns), b(right.values.data(), right.rows, columns);
  Eigen::Map<Floats> out(sums.data(), columns, columns);
  const bool symmetric = &left == &right;
  parallel_for((columns + kBlock - 1) / kBlock, 2, [&](int64_t begin, int64_t end) {
    for (int64_t first = begin * kBlock; first < std::min(columns, end * kBlock); first += kBlock) {
      const int64_t count = std::min(kBlock, columns - first), width = symmetric ? first + count : columns;
      out.block(first, 0, count, width).noalias() += a.middleCols(first, count).transpose() * b.leftCols(width);
      if (symmetric) out.block(0, first, first, count) = out.block(first, 0, count, first).transpose();
    }
  });
}

class Observer {
 public:
  Observer(std::span<const Weight> weights, const Watch& watch)
      : weights_(weights), readers_(readers_of(weights)), watch_(watch) {
    for (const Weight& w : weights) {
      Observed& o = found_.emplace_back();
      o.squares.resize(static_cast<size_t>(w.groups * w.columns));
      o.peaks.resize(o.squares.size());
      const std::vector<float> none(watch.products ? static_cast<size_t>(w.columns * w.columns) : 0);
      if (watch.products) o.products.assign(static_cast<size_t>(w.groups), none);
      if (watch.original) o.crossed.assign(static_cast<size_t>(w.groups), none);
    }
  }

  void run(const Model& model, const Looking& means) {
    const auto data = spread(*means.data, means.samples);
    if (data->size() == 0) input_error("there is no sample to look at", "--data", "give data with at least one sample");
    std::optional<Watched> original;
    if (watch_.original)
      original.emplace(*watch_.original, readers_, *means.runner,
                       [&](const std::string& name, const Tensor& value) { originals_.insert_or_assign(name, value); });
    Watched watched(model, readers_, *means.runner,
                    [&](const std::string& name, const Tensor& value) { look(name, value); });
    const int64_t step = std::max<int64_t>(1, data->batch_size());
    for (int64_t first = 0; first + step <= data->size(); first += step) {
      const Batch batch = data->batch(first, step);
      if (original) original->run(batch);
      watched.run(batch);
      require_finite(*data, first);
      if (means.progress) means.progress("observing", first + step, data->size());
    }
  }

  std::vector<Observed> found() { return std::move(found_); }

 private:
  void look(const std::string& name, const Tensor& value) {
    const auto at = readers_.find(name);
    if (at == readers_.end()) return;
    for (const auto& [i, node] : at->second) {
      std::vector<Matrix> before;
      if (watch_.original)
        each_features(weights_[i], *node, originals_.at(name),
                      [&](int64_t, const Matrix& rows) { before.push_back(rows); });
      size_t next = 0;
      each_features(weights_[i], *node, value, [&, &into = found_[i]](int64_t group, const Matrix& rows) {
        see(rows, group, into, before.empty() ? nullptr : &before.at(next++));
      });
    }
  }

  void require_finite(const Dataset& data, int64_t sample) const {
    for (size_t i = 0; i < found_.size(); ++i)
      for (const double x : found_[i].squares)
        if (!std::isfinite(x))
          input_error(fmt::format("what {} is given is not finite", weights_[i].layer), data.name_of(sample),
                      "remove the sample");
  }

  std::span<const Weight> weights_;
  Readers readers_;
  Watch watch_;
  std::map<std::string, Tensor> originals_;  // of the batch at hand
  std::vector<Observed> found_;
};

}  // namespace

void see(const Matrix& rows, int64_t group, Observed& observed, const Matrix* original) {
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
  if (!observed.products.empty()) add_products(rows, rows, observed.products[static_cast<size_t>(group)]);
  if (original && !observed.crossed.empty())
    add_products(*original, rows, observed.crossed[static_cast<size_t>(group)]);
}

std::vector<Observed> observe(const Model& model, std::span<const Weight> weights, const Watch& watch,
                              const Looking& means) {
  Observer observer(weights, watch);
  with_threads(means.runner->options.threads, [&] { observer.run(model, means); });
  return observer.found();
}

}  // namespace mlopt
