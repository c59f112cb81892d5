#include "core/calib/score.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt {
namespace {

constexpr int64_t kDefaultBatch = 16;

size_t find_output(const std::vector<std::string>& names, const std::string& wanted) {
  if (names.empty()) input_error("the model has no outputs", {}, "give a model with an output that can be scored");
  if (wanted.empty()) return 0;
  const auto found = std::find(names.begin(), names.end(), wanted);
  if (found == names.end())
    usage_error(fmt::format("the model has no output '{}'", wanted), "--output", suggestion(wanted, names));
  return static_cast<size_t>(found - names.begin());
}

/// `count` rows of a stacked tensor from `first` on.
Tensor rows(const Tensor& tensor, int64_t first, int64_t count) {
  if (tensor.rank() == 0 || count == tensor.dim(0)) return tensor;
  Dims dims = tensor.dims();
  const int64_t row = tensor.size() / std::max<int64_t>(dims[0], 1);
  dims[0] = count;
  if (tensor.dtype() == DType::kString) {
    const auto begin = tensor.strings().begin() + first * row;
    return Tensor::of_strings(dims, {begin, begin + count * row});
  }
  Tensor out(tensor.dtype(), dims);
  std::copy_n(tensor.raw() + static_cast<int64_t>(packed_bytes(tensor.dtype(), row)) * first, out.bytes(),
              out.mutable_raw());
  return out;
}

/// What a batch gave and should have given, for the samples from `first` on; those before `skipped` have counted.
struct Scored {
  Tensor output, labels;
  int64_t first, count, skipped;
};

Tensor kept_rows(const Tensor& tensor, const Scored& batch) {
  return batch.skipped == 0 || tensor.rank() == 0 ? tensor : rows(tensor, batch.skipped, tensor.dim(0) - batch.skipped);
}

/// A batch that the metric refuses is offered again one sample at a time, so that the error names the one at fault.
void add(const MetricDef& metric, Tally& tally, const Scored& batch, const Dataset& data) {
  const std::string name = data.name_of(batch.first);
  const std::string where = batch.count == 1 ? name : fmt::format("{} and the {} after it", name, batch.count - 1);
  try {
    metric.add(tally, kept_rows(batch.output, batch), kept_rows(batch.labels, batch), where);
  } catch (const Error&) {
    const auto stacked = [&](const Tensor& t) { return t.rank() > 0 && t.dim(0) == batch.count; };
    if (!stacked(batch.output) || !stacked(batch.labels)) throw;
    for (int64_t i = 0; i < batch.count; ++i)
      metric.add(tally, rows(batch.output, i, 1), rows(batch.labels, i, 1), data.name_of(batch.first + i));
    throw;
  }
}

}  // namespace

Score score_model(Executable& plan, const Dataset& data, const ScoreOptions& options) {
  const MetricDef metric = find_metric(options.metric);
  const size_t output = find_output(plan.output_names(), options.output);
  if (!data.labelled()) {
    input_error(fmt::format("the data have no labels, which {} needs", metric.name), data.name_of(0),
                "folders named by class, labels=F.tsv, an array 'label' or a column of labels give them");
  }
  const auto start = std::chrono::steady_clock::now();
  const int64_t size = data.size(), fixed = data.batch_size();
  const int64_t step = fixed != 0 ? fixed : options.batch > 0 ? options.batch : kDefaultBatch;
  const int64_t batches = (size + step - 1) / step;
  const int64_t end = std::min(size, batches * (options.part + 1) / options.parts * step);
  Tally tally;
  for (int64_t done = batches * options.part / options.parts * step; done < end;) {
    const int64_t count = fixed != 0 ? fixed : std::min(step, size - done);
    // A model of a fixed batch meets some samples of the end again; they count once.
    const int64_t first = std::min(done, size - count);
    const Batch batch = data.batch(first, count);
    const std::vector<Datum> outputs = plan.run(batch.inputs);
    if (!outputs[output].is_tensor()) {
      input_error(fmt::format("the output '{}' is not a tensor", plan.output_names()[output]), {},
                  "choose one with --output");
    }
    if (!batch.labels) input_error("the label is missing", data.name_of(first), "label every sample");
    add(metric, tally, {outputs[output].tensor(), *batch.labels, first, count, done - first}, data);
    done = first + count;
    if (options.progress) options.progress(done);
  }
  if (options.parts > 1) tally = options.combine(tally);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  return {.metric = options.metric, .value = metric.value(tally), .samples = size, .seconds = elapsed.count()};
}

std::string in_words(const Score& score) {
  const MetricDef metric = find_metric(score.metric);
  if (!metric.share) return fmt::format("{:.5g}", score.value);
  const double hits = score.value * static_cast<double>(score.samples);
  const bool counted = score.metric != "f1" && std::abs(hits - std::round(hits)) < 1e-6;
  const std::string count = counted ? fmt::format(" ({:.0f} of {})", hits, score.samples) : "";
  return fmt::format("{:.2f} %{}", 100 * score.value, count);
}

}  // namespace mlopt
