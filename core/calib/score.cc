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
  if (wanted.empty()) return 0;
  const auto found = std::find(names.begin(), names.end(), wanted);
  if (found == names.end())
    usage_error(fmt::format("the model has no output '{}'", wanted), "--output", suggestion(wanted, names));
  return static_cast<size_t>(found - names.begin());
}

/// Rows of a stacked tensor from `first` on.
Tensor rows_from(const Tensor& tensor, int64_t first) {
  if (first == 0 || tensor.rank() == 0) return tensor;
  Dims dims = tensor.dims();
  const int64_t row = tensor.size() / std::max<int64_t>(dims[0], 1);
  dims[0] -= first;
  if (tensor.dtype() == DType::kString) {
    const auto& all = tensor.strings();
    return Tensor::of_strings(dims, {all.begin() + first * row, all.end()});
  }
  Tensor out(tensor.dtype(), dims);
  std::copy_n(tensor.raw() + tensor.bytes() - out.bytes(), out.bytes(), out.mutable_raw());
  return out;
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
  Tally tally;
  for (int64_t done = 0; done < size;) {
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
    const int64_t again = done - first;
    metric.add(
        tally, rows_from(outputs[output].tensor(), again), rows_from(*batch.labels, again),
        count == 1 ? data.name_of(first) : fmt::format("{} and the {} after it", data.name_of(first), count - 1));
    done = first + count;
    if (options.progress) options.progress(done);
  }
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
