#include "prune/moments.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/data/spread.h"
#include "core/rewrite/end_with.h"
#include "core/tensor/cast.h"

namespace mlopt::prune {
namespace {

struct Sums {
  std::vector<double> plain, squares;
  double count = 0;  // of each entry

  void see(const Tensor& tensor) {
    if (tensor.rank() < 2) return;
    const std::vector<double> numbers = to_doubles(tensor);
    const auto n = static_cast<size_t>(tensor.dim(1));
    const auto inner = static_cast<size_t>(row_major_strides(tensor.dims())[1]);
    plain.resize(n);
    squares.resize(n);
    for (size_t i = 0; i < numbers.size(); ++i) {
      plain[i / inner % n] += numbers[i];
      squares[i / inner % n] += numbers[i] * numbers[i];
    }
    count += static_cast<double>(numbers.size()) / static_cast<double>(n);
  }

  Moments moments() const {
    Moments m{plain, squares};
    for (size_t i = 0; i < plain.size(); ++i) {
      m.means[i] /= count;
      m.variances[i] = std::max(0.0, m.variances[i] / count - m.means[i] * m.means[i]);
    }
    return m;
  }
};

}  // namespace

int64_t each_value(const Model& model, const std::vector<std::string>& names, const Means& means,
                   const std::function<void(size_t value, const Tensor& tensor)>& see) {
  const auto data = spread(*means.data, means.calibration_samples);
  if (data->size() == 0) input_error("there is no sample to look at", "--data", "give data with at least one sample");
  std::map<std::string, size_t, std::less<>> numbers;
  for (size_t i = 0; i < names.size(); ++i) numbers.emplace(names[i], i);
  Model part = clone(model);
  end_with(part, names);
  CompileOptions options = means.runner->options;
  options.taps = names;
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

std::vector<Moments> moments_of(const Model& model, const std::vector<std::string>& names, const Means& means) {
  std::vector<Sums> sums(names.size());
  each_value(model, names, means, [&](size_t i, const Tensor& tensor) { sums[i].see(tensor); });
  std::vector<Moments> moments;
  for (const Sums& s : sums) moments.push_back(s.moments());
  return moments;
}

}  // namespace mlopt::prune
