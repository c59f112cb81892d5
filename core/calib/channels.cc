#include "core/calib/channels.h"

#include <algorithm>
#include <limits>
#include <map>

#include "core/base/error.h"
#include "core/data/spread.h"
#include "core/rewrite/end_with.h"
#include "core/tensor/cast.h"

namespace mlopt {
namespace {

struct Sums {
  ChannelStatistics found;  // sums in place of means, sums of squares in place of variances
  double count = 0;         // of each entry

  void see(const Tensor& tensor) {
    if (tensor.rank() < 2 || tensor.size() == 0) return;
    const std::vector<double> numbers = to_doubles(tensor);
    const auto n = static_cast<size_t>(tensor.dim(1));
    const auto inner = static_cast<size_t>(row_major_strides(tensor.dims())[1]);
    found.means.resize(n);
    found.variances.resize(n);
    found.mins.resize(n, std::numeric_limits<double>::infinity());
    found.maxes.resize(n, -std::numeric_limits<double>::infinity());
    for (size_t i = 0; i < numbers.size(); ++i) {
      const size_t c = i / inner % n;
      found.means[c] += numbers[i];
      found.variances[c] += numbers[i] * numbers[i];
      found.mins[c] = std::min(found.mins[c], numbers[i]);
      found.maxes[c] = std::max(found.maxes[c], numbers[i]);
    }
    count += static_cast<double>(numbers.size()) / static_cast<double>(n);
  }

  ChannelStatistics statistics() const {
    ChannelStatistics s = found;
    for (size_t c = 0; c < s.means.size(); ++c) {
      s.means[c] /= count;
      s.variances[c] = std::max(0.0, s.variances[c] / count - s.means[c] * s.means[c]);
    }
    return s;
  }
};

}  // namespace

int64_t each_value(const Model& model, std::span<const std::string> names, const Looking& means,
                   const std::function<void(size_t value, const Tensor& tensor)>& see) {
  const auto data = spread(*means.data, means.samples);
  if (data->size() == 0) input_error("there is no sample to look at", "--data", "give data with at least one sample");
  std::map<std::string, size_t, std::less<>> numbers;
  for (size_t i = 0; i < names.size(); ++i) numbers.emplace(names[i], i);
  Model part = clone(model);
  end_with(part, names);
  CompileOptions options = means.runner->options;
  options.taps.assign(names.begin(), names.end());
  const auto plan = means.runner->backend.compile(part, options);
  RunHooks hooks;
  hooks.on_tap = [&](std::string_view name, const Datum& value) {
    if (value.is_tensor()) see(numbers.find(name)->second, value.tensor());
  };
  const int64_t step = std::max<int64_t>(1, data->batch_size());
  int64_t done = 0;
  for (; done + step <= data->size(); done += step) {
    plan->run(data->batch(done, step).inputs, hooks);
    if (means.progress) means.progress("observing", done + step, data->size());
  }
  return done;
}

std::vector<double> channel_sums(const Tensor& tensor) {
  Sums sums;
  sums.see(tensor);
  return sums.found.means;
}

std::vector<ChannelStatistics> channel_statistics(const Model& model, std::span<const std::string> names,
                                                  const Looking& means) {
  std::vector<Sums> sums(names.size());
  each_value(model, names, means, [&](size_t i, const Tensor& tensor) { sums[i].see(tensor); });
  std::vector<ChannelStatistics> found;
  for (const Sums& s : sums) found.push_back(s.statistics());
  return found;
}

}  // namespace mlopt
