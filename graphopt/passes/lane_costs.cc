// The limits are those at which one thread of ONNX Runtime was no slower, with a cache of 1 MB a core: 50 steps of two
// small layers are 5.5 times as fast at once at batch 1 and 1.5 times at 16, 16 steps of a feed-forward layer of width
// 1024 7.1 and 1.4 times; 8 images of 64 x 64 through two convolutions and a normalization 1.4 times at batch 1 and 0.6
// times at 8; 8 images of 224 x 224 through ResNet-18 0.97 and, at 16, 0.91 times.
#include "graphopt/passes/lane_costs.h"

#include <algorithm>

namespace mlopt::graphopt {
namespace {

constexpr double kCache = 1 << 20;
constexpr double kOperator = 8 << 10;  // what one more costs, as bytes that could have been moved
constexpr double kFewRows = 16;        // that a weight meets while it is read
constexpr int64_t kBatch = 8;

double elements_of(const Value& v, const Dim& batch) {
  auto elements = static_cast<double>(batch.value().value_or(kBatch));
  for (size_t i = 1; i < v.type.dims->size(); ++i) elements *= static_cast<double>(*(*v.type.dims)[i].value());
  return elements;
}

/// Bytes of a weight that each lane would read for itself, as it meets few rows.
double weight_of(const Node& step, double elements) {
  const bool of_channels = step.is("Conv");
  const Tensor* weight =
      of_channels || step.is("MatMul") || step.is("Gemm") ? step.input(1)->known_constant() : nullptr;
  const SymDims& dims = *step.output(0)->type.dims;
  const auto columns = static_cast<double>(*(of_channels ? dims[1] : dims.back()).value());
  return weight && elements < kFewRows * columns ? static_cast<double>(weight->bytes()) : 0;
}

}  // namespace

bool pays_at_once(const Lanes& lanes) {
  double largest = 0, values = 0, saved = 0;  // bytes of a lane
  for (const Node* step : lanes.steps) {
    const Value& y = *step->output(0);
    const double elements = elements_of(y, lanes.batch), bytes = elements * bits(y.type.dtype) / 8;
    largest = std::max(largest, bytes);
    values += bytes;
    saved += kOperator + weight_of(*step, elements);
  }
  const auto count = static_cast<double>(lanes.count);
  // About half of the values are so large.
  return count * largest <= kCache || (count - 1) * saved >= count * values / 2;
}

}  // namespace mlopt::graphopt
