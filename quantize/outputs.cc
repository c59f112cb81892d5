#include "quantize/outputs.h"

#include <algorithm>
#include <cmath>

#include "core/data/spread.h"
#include "core/tensor/cast.h"

namespace mlopt::quantize {

Outputs::Outputs(const Model& model, const Means& means, int64_t samples) {
  const auto plan = means.runner->backend.compile(model, means.runner->options);
  const auto data = spread(*means.data, samples);
  const int64_t step = std::max<int64_t>(1, data->batch_size());
  for (int64_t first = 0; first + step <= data->size(); first += step)
    for (const Datum& value : plan->run(data->batch(first, step).inputs))
      if (value.is_tensor()) values_.push_back(to_floats(value.tensor()));
}

double Outputs::distance(const Outputs& other) const {
  double sum = 0;
  for (size_t k = 0; k < values_.size(); ++k) {
    double off = 0, all = 0;
    for (size_t i = 0; i < std::min(values_[k].size(), other.values_[k].size()); ++i) {
      const auto x = static_cast<double>(values_[k][i]), d = x - static_cast<double>(other.values_[k][i]);
      if (std::isfinite(d)) off += d * d, all += x * x;
    }
    if (all > 0) sum += off / all;
  }
  return sum;
}

}  // namespace mlopt::quantize
