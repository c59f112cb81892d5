#include "samples/quickstart/features.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace mlopt::quickstart {

Tensor network_input(const Pictures& pictures, int64_t begin, int64_t end) {
  constexpr int64_t kPixels = int64_t{kSide} * kSide;
  Tensor input(DType::kF32, {end - begin, 1, kSide, kSide});
  std::transform(pictures.pixels.begin() + begin * kPixels, pictures.pixels.begin() + end * kPixels,
                 input.mutable_data<float>(), [](uint8_t pixel) { return (pixel - kMean) / kDeviation; });
  return input;
}

Tensor run_network(Backend& backend, const Model& model, const Pictures& pictures) {
  constexpr int64_t kBatch = 100;
  const std::unique_ptr<Executable> network = backend.compile(model, {});
  Tensor all;
  for (int64_t begin = 0; begin < pictures.count(); begin += kBatch) {
    const int64_t end = std::min(begin + kBatch, pictures.count());
    const std::vector<Datum> inputs = {network_input(pictures, begin, end)};
    const std::vector<Datum> outputs = network->run(inputs);
    const Tensor part = outputs[0].tensor().aligned();
    const int64_t row = part.size() / (end - begin);
    if (begin == 0) {
      Dims dims = part.dims();
      dims[0] = pictures.count();
      all = Tensor(DType::kF32, dims);
    }
    std::copy_n(part.data<float>(), part.size(), all.mutable_data<float>() + begin * row);
  }
  return all;
}

}  // namespace mlopt::quickstart
