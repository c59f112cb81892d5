#include <algorithm>
#include <array>
#include <cmath>

#include "quantize/fits.h"

namespace mlopt::quantize {
namespace {

float root_mean_square(std::span<const float> values) {
  double sum = 0;
  for (const float x : values) sum += std::isfinite(x) ? static_cast<double>(x) * static_cast<double>(x) : 0;
  return static_cast<float>(std::sqrt(sum / static_cast<double>(std::max<size_t>(1, values.size()))));
}

}  // namespace

double squared_error(const Group& group, const Alphabet& alphabet) {
  constexpr size_t kAtOnce = 256;
  // What a layer multiplies by large weights tends to matter more to it than how large that is says.
  const float usual = root_mean_square(group.values);
  std::array<uint8_t, kAtOnce> codes{};
  double squares = 0, shift = 0;
  for (size_t first = 0; first < group.values.size(); first += kAtOnce) {
    const auto values = group.values.subspan(first, std::min(kAtOnce, group.values.size() - first));
    alphabet.nearest(values, codes.data());
    float square = 0, sum = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const float off = std::isfinite(values[i]) ? alphabet.value(codes[i]) - values[i] : 0;
      square += off * off * (usual + std::fabs(values[i])) * group.weight(first + i);
      sum += off;
    }
    squares += static_cast<double>(square);
    shift += static_cast<double>(sum);
  }
  return squares + group.shift * static_cast<double>(usual) * shift * shift;
}

}  // namespace mlopt::quantize
