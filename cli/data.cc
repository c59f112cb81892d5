#include "cli/data.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/test_data.h"
#include "core/base/error.h"
#include "core/calib/model_inputs.h"
#include "core/data/metrics.h"
#include "core/data/open.h"
#include "core/onnx/infer.h"
#include "graphopt/equal_sizes.h"
#include "graphopt/implied_sizes.h"
#include "graphopt/least_sizes.h"

namespace mlopt::cli {
namespace {

/// Values of the inputs that have no default, in their order; a stored value for another one cannot be honoured here.
std::vector<Datum> read_inputs(const std::string& folder, const Graph& graph) {
  TestValues stored = read_test_inputs(folder, graph);
  std::vector<Datum> values;
  for (size_t k = 0; k < stored.names.size(); ++k) {
    if (!graph.find(stored.names[k])->is_initializer()) values.push_back(std::move(stored.values[k]));
  }
  return values;
}

/// What to do about a model that cannot be run on the data.
std::string data_hint(const DataFlags& flags, const Model& model) {
  if (!flags.spec.starts_with("random")) return "see whether the values are such as the model was made for";
  for (const InputSpec& input : model_inputs(model)) {
    const bool open = std::any_of(input.dims.begin(), input.dims.end(), [](const Dim& d) { return !d.value(); });
    const bool given = std::any_of(flags.shapes.begin(), flags.shapes.end(),
                                   [&](const std::string& s) { return s.starts_with(input.name + "="); });
    if (open && !given) {
      return fmt::format("the sizes that {} leaves open were assumed: give them with --shape {}=DIMS",
                         to_string({input}), input.name);
    }
  }
  return "the values of the inputs were generated: give real ones with --data, or limits with --range NAME=A:B";
}

}  // namespace

void declare_data(Options& options, DataFlags& flags, const std::string& fallback) {
  flags.spec = fallback;
  const std::string otherwise = fallback.empty() ? "" : fmt::format(" (default: {})", fallback);
  options.add("--data", flags.spec, "SPEC",
              "random[:N], a folder or file of arrays (.npz, .npy), a test_data_set folder, images:DIR, images:F.tar, "
              "idx:IMAGES,LABELS, csv:F, text:F,vocab=V or bytes:F, and after commas what is done to them" +
                  otherwise);
  options.add("--shape", flags.shapes, "NAME=DIMS", "shape of a random input, or size of a free dimension");
  options.add("--range", flags.ranges, "NAME=A:B", "values of a random input");
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const MetricDef& metric : metrics()) names.emplace_back(metric.name);
  return names;
}

void with_data_hint(const DataFlags& flags, const Model& model, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& e) {
    if (e.code != Code::kBadInput || !e.fix.empty()) throw;
    throw Error(e.code, e.message, e.where, data_hint(flags, model));
  }
}

void refuse_sizes_of_stored(const DataFlags& flags) {
  if (flags.spec.empty() || flags.spec.starts_with("random")) return;
  if (!flags.shapes.empty()) usage_error("stored data have shapes of their own", "--shape", "leave it or --data out");
  if (!flags.ranges.empty()) usage_error("stored data have values of their own", "--range", "leave it or --data out");
}

void check_batch(const Model& model, int64_t batch) {
  if (batch == 0) return;
  for (const Value* input : model.graph->inputs()) {
    if (input->is_initializer() || !input->type.dims || input->type.dims->empty()) continue;
    const auto size = input->type.dims->front().value();
    if (!size || *size == batch) return;
  }
  input_error(fmt::format("the model cannot take a batch of {}: the first dimensions of its inputs are fixed", batch),
              model.path, "leave out --batch, or export the model with a free first dimension");
}

int64_t samples_at_once(const Dataset& data, int64_t batch) {
  const int64_t fixed = data.batch_size();
  const bool random = data.name_of(0).starts_with("random:");
  const int64_t count = random || batch == 0 ? std::max<int64_t>(fixed, 1) : batch;
  if (!random && batch > 0 && fixed > 0 && fixed != batch)
    input_error(fmt::format("the data give {} samples at a time, not {}", fixed, batch), "--batch", "leave it out");
  if (data.size() < count)
    input_error(fmt::format("{} samples are too few for {} at a time", data.size(), count), "--data",
                "give more samples");
  return count;
}

namespace {

/// Sizes that follow from others are written in their terms, but for those that --shape gives.
void name_equal_sizes(std::vector<InputSpec>& inputs, const RandomOptions& options, const Model& model) {
  std::map<std::string, Dim> equal = graphopt::likely_sizes(model, standard_types);
  std::erase_if(equal, [&](const auto& each) { return options.shapes.contains(each.first); });
  for (InputSpec& input : inputs) {
    if (options.shapes.contains(input.name)) continue;
    for (Dim& d : input.dims) {
      const auto name = d.symbol_name();
      if (name && equal.contains(*name) && !options.sizes.contains(*name)) d = equal.at(*name);
    }
  }
}

}  // namespace

std::unique_ptr<Dataset> open_data(const DataFlags& flags, const Model& model, const DataUse& use) {
  if (flags.spec.empty()) usage_error("no data were given", "--data", "for example --data images:photos/");
  DataOptions options;
  options.whole = use.whole;
  options.random.seed = use.seed;
  options.random.distinct = use.distinct;
  options.random.batch = use.batch;
  for (const std::string& text : flags.shapes) add_shape(options.random, text);
  for (const std::string& text : flags.ranges) add_range(options.random, text);
  const Graph* graph = model.graph.get();
  options.read_test_set = [graph](const std::string& folder, bool expected) {
    return expected ? read_test_outputs(folder, *graph).values : read_inputs(folder, *graph);
  };
  std::vector<InputSpec> inputs = model_inputs(model);
  check_given_names(inputs, options.random);
  refuse_sizes_of_stored(flags);
  if (flags.spec.starts_with("random")) {
    options.random.sizes = graphopt::implied_sizes(model, standard_types);
    name_equal_sizes(inputs, options.random, model);
    options.random.least = graphopt::least_sizes(model, inputs, options.random, standard_types);
  }
  return open_dataset(parse_data_spec(flags.spec), inputs, options);
}

}  // namespace mlopt::cli
