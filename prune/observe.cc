#include "prune/observe.h"

#include <fmt/core.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "core/base/error.h"
#include "core/data/spread.h"
#include "core/rewrite/pass.h"
#include "prune/features.h"

namespace mlopt::prune {
namespace {

/// The weights that a value is multiplied by.
using Readers = std::map<std::string, std::vector<std::pair<size_t, const Node*>>>;

Readers readers_of(std::span<const Weight> weights) {
  Readers readers;
  for (size_t i = 0; i < weights.size(); ++i)
    for (const Node* node : weights[i].readers)
      readers[node->input(data_operand(weights[i]))->name].emplace_back(i, node);
  return readers;
}

/// A copy of the model that ends with these values.
Model ending_with(const Model& model, const std::vector<std::string>& names) {
  Model part = clone(model);
  Graph& graph = *part.graph;
  const size_t given = graph.outputs().size();
  for (size_t i = 0; i < std::max(given, names.size()); ++i) {
    Value* value = graph.find(names[std::min(i, names.size() - 1)]);  // what was given beyond repeats the last
    if (i < given)
      graph.set_output(static_cast<int>(i), value);
    else
      graph.add_output(value);
  }
  remove_dead(part);
  return part;
}

class Observer {
 public:
  Observer(std::span<const Weight> weights, bool products) : weights_(weights), readers_(readers_of(weights)) {
    for (const Weight& w : weights) {
      Observed& o = found_.emplace_back();
      o.squares.resize(static_cast<size_t>(w.groups * w.columns));
      if (products)
        o.products.assign(static_cast<size_t>(w.groups),
                          std::vector<float>(static_cast<size_t>(w.columns * w.columns)));
    }
  }

  void run(const Model& model, const Means& means) {
    std::vector<std::string> computed;
    for (const auto& [name, readers] : readers_)
      if (model.graph->find(name)->producer) computed.push_back(name);
    const auto data = spread(*means.data, means.calibration_samples);
    if (data->size() == 0) input_error("there is no sample to look at", "--data", "give data with at least one sample");
    CompileOptions options = means.runner->options;
    options.taps = computed;
    const auto plan =
        means.runner->backend.compile(computed.empty() ? clone(model) : ending_with(model, computed), options);
    RunHooks hooks;
    hooks.on_tap = [&](std::string_view name, const Datum& value) { look(std::string(name), value); };
    const int64_t step = std::max<int64_t>(1, data->batch_size());
    for (int64_t first = 0; first + step <= data->size(); first += step) {
      const Batch batch = data->batch(first, step);
      for (size_t i = 0; i < batch.inputs.size(); ++i) look(plan->input_names().at(i), batch.inputs[i]);
      plan->run(batch.inputs, hooks);
      require_finite(*data, first);
      if (means.progress) means.progress("observing", first + step, data->size());
    }
  }

  std::vector<Observed> found() { return std::move(found_); }

 private:
  void look(const std::string& name, const Datum& value) {
    const auto at = readers_.find(name);
    if (at == readers_.end() || !value.is_tensor()) return;
    for (const auto& [i, node] : at->second)
      each_features(weights_[i], *node, value.tensor(),
                    [&](int64_t group, const Matrix& rows) { see(rows, group, found_[i]); });
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
  std::vector<Observed> found_;
};

}  // namespace

void see(const Matrix& rows, int64_t group, Observed& observed) {
  double* squares = observed.squares.data() + group * rows.columns;
  for (int64_t r = 0; r < rows.rows; ++r) {
    const std::span<const float> row = rows.row(r);
    for (size_t c = 0; c < row.size(); ++c) squares[c] += static_cast<double>(row[c]) * row[c];
  }
  if (group == 0) observed.rows += rows.rows;
  if (observed.products.empty()) return;
  using Dense = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const Dense> x(rows.values.data(), rows.rows, rows.columns);
  Eigen::Map<Dense> products(observed.products[static_cast<size_t>(group)].data(), rows.columns, rows.columns);
  products.noalias() += x.transpose() * x;
}

std::vector<Observed> observe(const Model& model, std::span<const Weight> weights, bool products, const Means& means) {
  Observer observer(weights, products);
  observer.run(model, means);
  return observer.found();
}

}  // namespace mlopt::prune
