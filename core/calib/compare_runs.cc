#include "core/calib/compare_runs.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt {
namespace {

/// For each output of `expected`, the place of its counterpart.
std::vector<size_t> match_outputs(const std::vector<std::string>& expected, const std::vector<std::string>& actual) {
  if (expected.size() != actual.size()) {
    input_error("the models have different outputs", join(expected, ", ") + " and " + join(actual, ", "),
                "compare models that compute the same");
  }
  std::vector<size_t> places;
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto found = std::find(actual.begin(), actual.end(), expected[i]);
    places.push_back(found == actual.end() ? i : static_cast<size_t>(found - actual.begin()));
  }
  std::vector<size_t> sorted = places;
  std::sort(sorted.begin(), sorted.end());
  const bool each_once = std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  if (!each_once) {
    input_error("the models' outputs cannot be matched", join(expected, ", ") + " and " + join(actual, ", "),
                "give the outputs the same names");
  }
  return places;
}

/// Everything that two values hold, tensor by tensor.
class OutputSum {
 public:
  explicit OutputSum(std::string name) : name_(std::move(name)) {}

  void add(const Datum& expected, const Datum& actual) {
    if (!problem_.empty()) return;
    if (expected.kind() != actual.kind()) {
      problem_ = "one holds a tensor where the other does not";
    } else if (expected.is_tensor()) {
      add(expected.tensor(), actual.tensor());
    } else if (!expected.is_none()) {
      add_items(expected, actual);
    }
  }

  OutputComparison result() const {
    if (!problem_.empty()) return {name_, std::nullopt, problem_};
    return {name_, sum_.result(), ""};
  }

 private:
  void add_items(const Datum& expected, const Datum& actual) {
    const auto &e = expected.items(), &a = actual.items();
    if (e.size() != a.size()) {
      problem_ = fmt::format("{} items and {}", e.size(), a.size());
      return;
    }
    for (size_t i = 0; i < e.size(); ++i) add(e[i], a[i]);
    if (expected.kind() == Datum::Kind::kMap && problem_.empty()) add(expected.keys(), actual.keys());
  }

  void add(const Tensor& expected, const Tensor& actual) {
    if (expected.dims() != actual.dims()) {
      problem_ = fmt::format("shapes {} and {}", to_string(expected.dims()), to_string(actual.dims()));
    } else if (expected.dtype() == DType::kString || actual.dtype() == DType::kString) {
      const auto differs = mismatch(actual, expected, 0, 0);
      if (differs) problem_ = *differs;
    } else if (is_complex(expected.dtype()) != is_complex(actual.dtype())) {
      problem_ = "one is complex, the other is not";
    } else {
      sum_.add(actual, expected);
    }
  }

  std::string name_, problem_;
  DifferenceSum sum_;
};

}  // namespace

RunComparison compare_runs(Executable& expected, Executable& actual, const Dataset& data,
                           const CompareOptions& options) {
  if (expected.input_names() != actual.input_names()) {
    input_error("the models have different inputs",
                join(expected.input_names(), ", ") + " and " + join(actual.input_names(), ", "),
                "compare models that take the same inputs");
  }
  const std::vector<size_t> places = match_outputs(expected.output_names(), actual.output_names());
  std::vector<OutputSum> sums;
  for (const std::string& name : expected.output_names()) sums.emplace_back(name);
  const int64_t step = data.batch_size() > 0 ? data.batch_size() : std::min(options.batch, options.samples);
  const int64_t size = std::min(data.size(), std::max(options.samples, step));
  const auto start = std::chrono::steady_clock::now();
  RunComparison result;
  while (result.samples < size) {
    const int64_t count = data.batch_size() > 0 ? step : std::min(step, size - result.samples);
    if (result.samples + count > data.size()) break;  // a fixed batch leaves a rest
    const Batch batch = data.batch(result.samples, count);
    const std::vector<Datum> e = expected.run(batch.inputs), a = actual.run(batch.inputs);
    for (size_t i = 0; i < sums.size(); ++i) sums[i].add(e[i], a[places[i]]);
    result.samples += count;
    if (options.progress) options.progress(result.samples);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    if (options.seconds > 0 && elapsed.count() > options.seconds) break;
  }
  for (const OutputSum& sum : sums) result.outputs.push_back(sum.result());
  return result;
}

}  // namespace mlopt
