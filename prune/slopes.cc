#include "prune/slopes.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/data/gather.h"
#include "core/data/spread.h"
#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "core/train/constants.h"
#include "core/train/feed.h"
#include "core/train/graphs.h"

namespace mlopt::prune {
namespace {

void require_labels(const Means& means) {
  if (!means.data || !means.data->labelled() || !means.loss)
    usage_error("a method that looks at gradients of the loss needs data with labels", "--data",
                "give data that the model could be trained on, or use --method wanda, which needs no labels");
  if (means.data->size() == 0)
    input_error("there is no sample to look at", "--data", "give data with at least one sample");
}

train::TrainingGraphs graphs_of(const Model& model, const std::vector<std::string>& weights, const Dataset& data,
                                int64_t batch, const Means& means) {
  train::BatchInputs inputs;
  inputs.settle = means.settle;
  const std::vector<int64_t> first(static_cast<size_t>(batch), 0);
  for (const Datum& input : gather(data, first).inputs) {
    if (input.tensor().rank() == 0) inputs.fixed.emplace(inputs.dims.size(), input.tensor());
    inputs.dims.push_back(input.tensor().dims());
  }
  train::Recipe recipe;
  recipe.loss = means.loss;
  recipe.output = means.loss_output;
  recipe.optimizer = train::find_optimizer("sgd");  // whose updates nobody runs
  recipe.train_batch_norm = false;
  recipe.choice.also = weights;
  Model copy = clone(model);
  train::constants_to_initializers(copy);
  return train::make_graphs(copy, inputs, recipe, standard_types);
}

train::FeedSettings feed_of(const train::TrainingGraphs& graphs, int64_t batch) {
  train::FeedSettings feed;
  feed.batch = batch;
  if (!graphs.labels.empty()) feed.labels = graphs.gradients.graph->find(graphs.labels)->type;
  feed.classes = graphs.classes;
  feed.within_one = graphs.within_one;
  feed.fixed = graphs.fixed;
  return feed;
}

}  // namespace

int64_t each_slope(const Model& model, const std::vector<std::string>& weights, const Means& means,
                   const std::function<void(size_t weight, const Tensor& gradient)>& see) {
  require_labels(means);
  const auto data = spread(*means.data, means.calibration_samples);
  const int64_t batch = std::max<int64_t>(1, data->batch_size());
  const train::TrainingGraphs graphs = graphs_of(model, weights, *data, batch, means);
  CompileOptions options = means.runner->options;
  options.state = graphs.state;
  options.updates = graphs.gradient_updates;
  const auto plan = means.runner->backend.compile(graphs.gradients, options);
  train::Feed feed(*data, feed_of(graphs, batch));
  std::vector<const std::string*> states;  // of each weight; null: the loss does not depend on it
  for (const std::string& weight : weights) {
    const auto at = std::find(graphs.parameters.begin(), graphs.parameters.end(), weight) - graphs.parameters.begin();
    const bool found = at < std::ssize(graphs.parameters);
    states.push_back(found ? &graphs.gradient_states[static_cast<size_t>(at)] : nullptr);
  }
  const int64_t batches = feed.batches_in_epoch();
  for (int64_t i = 0; i < batches; ++i) {
    plan->run(feed.next());
    for (size_t w = 0; w < weights.size(); ++w)
      if (states[w]) see(w, graphs.state->at(*states[w]));
    if (means.progress) means.progress("differentiating", (i + 1) * batch, data->size());
  }
  return batches * batch;
}

std::vector<Slopes> slopes_of(const Model& model, std::span<const Weight> weights, const Means& means) {
  std::vector<std::string> names;
  std::vector<Matrix> values;
  std::vector<Slopes> slopes;
  for (const Weight& w : weights) {
    names.push_back(w.name());
    values.push_back(load(w));
    slopes.push_back({Matrix::zeros(w.rows, w.columns), Matrix::zeros(w.rows, w.columns)});
  }
  const int64_t samples = each_slope(model, names, means, [&](size_t i, const Tensor& gradient) {
    const std::vector<float> g = to_floats(gradient);
    const Weight& w = weights[i];
    for (int64_t r = 0; r < w.rows; ++r)
      for (int64_t c = 0; c < w.columns; ++c) {
        const auto at = w.row_at[static_cast<size_t>(r)] + w.column_at[static_cast<size_t>(c)];
        const float product = values[i].at(r, c) * g[static_cast<size_t>(at)];
        slopes[i].products.at(r, c) += std::abs(product);
        slopes[i].squares.at(r, c) += product * product;
      }
  });
  for (Slopes& s : slopes)
    for (Matrix* sums : {&s.products, &s.squares})
      for (float& x : sums->values) x /= static_cast<float>(samples);
  for (size_t i = 0; i < slopes.size(); ++i)
    if (std::any_of(slopes[i].squares.values.begin(), slopes[i].squares.values.end(),
                    [](float x) { return !std::isfinite(x); }))
      input_error("gradients of the loss are not finite", weights[i].layer, "check the data and their labels");
  return slopes;
}

}  // namespace mlopt::prune
